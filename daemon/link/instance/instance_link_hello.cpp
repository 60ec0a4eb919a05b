// How a process gets connected: accept, Hello, Welcome.

#include <algorithm>
#include <exception>

#include "daemon/link/instance/instance_link.hpp"

namespace cgpu::link {
namespace {

/// The socket, and the page of one that observes.
constexpr std::size_t kDescriptorsOfConnection = 2;
/// A pidfd and two pages.
constexpr std::size_t kDescriptorsOfProcess = 3;

}  // namespace

bool InstanceLink::room_for_another() {
    const auto strangers = std::count_if(connections_.begin(), connections_.end(),
                                         [](const auto& connection) { return !connection->role(); });
    descriptors_.has(connections_.size() * kDescriptorsOfConnection +
                     peers_.all().size() * kDescriptorsOfProcess);
    return static_cast<std::size_t>(strangers) < settings_.max_strangers && descriptors_.room() &&
           connections_.size() < settings_.max_processes * settings_.max_connections;
}

void InstanceLink::accepted(int fd) {
    File socket(fd);
    const auto process = Connection::peer_of(fd, outside_.processes);
    if (!process) return;
    if (!room_for_another()) {
        log_.write(process->pid, "too many connections to this instance, one was closed");
        return;
    }
    try {
        auto connection =
            std::make_shared<Connection>(std::move(socket), ++last_connection_, *process, loop_, *this);
        connection->expect_hello(outside_.loop.now() + settings_.hello_deadline);
        connections_.push_back(std::move(connection));
    } catch (const std::exception& error) {
        log_.write(process->pid, std::string("its connection can't be watched: ") + error.what());
    }
}

/// Where the link is mounted for a process, its instance was; a process that has other mounts by now may
/// still be known by its parents. The folder of the link is closed to others: this is for who gets at the
/// socket some other way, for a pid that was used again, and for users who make instances of their own.
bool InstanceLink::has_member(const model::Process& process) const {
    return peers_.find(process) != nullptr || outside_.processes.sees(process, folder_) ||
           (instance_.attached && outside_.processes.descends(process, *instance_.attached));
}

app::WatchPtr InstanceLink::find_member(app::FoundProcess call) const {
    auto found = [this, link = std::weak_ptr(alive_),
                  call = std::move(call)](std::optional<model::Process> first) {
        if (!first && !link.expired())
            for (const auto& [process, peer] : peers_.all())
                if (outside_.processes.alive(process) && (!first || process.start_time < first->start_time))
                    first = process;
        call(first);
    };
    return outside_.processes.find_first_to_see(folder_, std::move(found));
}

void InstanceLink::hello(Connection& connection, const wire::Hello& hello) {
    if (!has_member(connection.process())) {
        log_.write(connection.process().pid, "it does not belong to this instance, and was refused");
        return connection.refuse(wire::Why::bad_request,
                                 "Process " + std::to_string(connection.process().pid) +
                                     " does not belong to instance " + instance_.id.short_id() +
                                     ". Try: start it by cgpuctl run or in the container.");
    }
    const auto version = std::min(hello.newest_version, wire::kVersion);
    if (version < std::max(hello.oldest_version, wire::kOldestVersion))
        return connection.refuse(wire::Why::unsupported_version,
                                 "The module speaks versions " + std::to_string(hello.oldest_version) +
                                     " to " + std::to_string(hello.newest_version) + " of the link, cgpud " +
                                     std::to_string(wire::kOldestVersion) + " to " +
                                     std::to_string(wire::kVersion) +
                                     ". Try: install the same release of both.");
    const auto of_process = std::count_if(connections_.begin(), connections_.end(), [&](const auto& other) {
        return other->role() && other->usable() && other->process() == connection.process();
    });
    if (static_cast<std::size_t>(of_process) >= settings_.max_connections)
        return connection.refuse(wire::Why::too_many_processes,
                                 "This process has " + std::to_string(of_process) +
                                     " connections to cgpud already. Try: close one.");
    switch (hello.role) {
        case wire::Role::observe:
            return welcome_observer(connection, version);
        case wire::Role::compute:
            return welcome_computer(connection, version, hello.front_version);
        case wire::Role::driver:
            return send_driver(connection);
        case wire::Role::hand_over:
            return expect_hand_over(connection);
    }
    malformed(connection, "a Hello with an unknown role");
}

wire::Welcome InstanceLink::welcome_message(std::uint32_t version) const {
    auto welcome = wire::make_message<wire::Welcome>();
    welcome.version = version;
    welcome.gpu_count = static_cast<std::uint32_t>(instance_.quotas.size());
    for (const auto& quota : instance_.quotas)
        welcome.context_estimate_bytes =
            std::max(welcome.context_estimate_bytes, outside_.leases.context_estimate(quota.gpu));
    wire::put_text(welcome.instance, instance_.id.str());
    wire::put_text(welcome.engine, outside_.engines.engine_for_new(version >= wire::kSwitchVersion));
    return welcome;
}

void InstanceLink::welcome_observer(Connection& connection, std::uint32_t version) {
    auto orders = OrdersPage::make(instance_, outside_, settings_);
    if (!orders) {
        log_.write(connection.process().pid, orders.error().text);
        return connection.refuse(wire::Why::too_many_processes, orders.error().text);
    }
    const int fd = orders->fd();
    connection.welcomed(wire::Role::observe, std::move(*orders));
    connection.send(welcome_message(version), {{fd}});
}

void InstanceLink::welcome_computer(Connection& connection, std::uint32_t version,
                                    std::uint32_t front_version) {
    const auto& process = connection.process();
    const auto refuse = [&](const std::string& why) {
        log_.write(process.pid, why);
        connection.refuse(wire::Why::too_many_processes, why);
    };
    if (peers_.find(process) == nullptr && peers_.all().size() >= settings_.max_processes)
        return refuse("The instance has " + std::to_string(settings_.max_processes) +
                      " processes on its GPUs already. Try: end some of them.");
    // While another front of the process computes, it gets the same pages: two would hide each other's
    // reports. Else new ones: nobody knows whether anyone still looks at the old.
    std::shared_ptr<Pages> fresh;
    if (!peers_.connection_of(process)) {
        auto pages = Pages::make(process, instance_, outside_, settings_);
        if (!pages) return refuse(pages.error().text);
        fresh = std::move(*pages);
    }
    if (const auto entered = outside_.leases.process_entered(key(), process); !entered)
        return refuse(entered.error().text);
    if (fresh) peers_.set_pages(process, std::move(fresh));
    auto& peer = peers_.enter(process);
    peer.connection = share(connection);
    connection.welcomed(wire::Role::compute, std::nullopt);
    const std::array fds{peer.pages->orders_fd(), peer.pages->reports_fd(), bell_->fd()};
    if (!connection.send(welcome_message(version), fds)) return;
    outside_.engines.connected({who(process), connection.number(), upgrade::Version::unpack(front_version),
                                version >= wire::kSwitchVersion});
}

}  // namespace cgpu::link
