#include "daemon/link/instance/instance_link.hpp"

#include <algorithm>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/model/quote.hpp"
#include "daemon/link/instance/malformed.hpp"
#include "daemon/link/instance/process_list.hpp"

namespace cgpu::link {
app::Result<std::unique_ptr<InstanceLink>> InstanceLink::open(const model::Instance& instance,
                                                              const std::filesystem::path& folder,
                                                              const Outside& outside,
                                                              const Settings& settings,
                                                              DescriptorBudget& descriptors, Told& told) {
    auto closed = InstanceFolder::open(folder);
    if (!closed) return tl::unexpected(closed.error());
    auto doorbell = DoorbellPage::make();
    if (!doorbell) return tl::unexpected(doorbell.error());
    auto listener = Listener::open(folder / "link", KeptSocket(outside.descriptors, app::key_of(instance)));
    if (!listener) return tl::unexpected(listener.error());
    try {
        std::unique_ptr<InstanceLink> link(new InstanceLink(instance, std::move(*closed), folder / "link",
                                                            std::move(*doorbell), outside, settings,
                                                            descriptors, told));
        link->start(std::move(*listener));
        return link;
    } catch (const std::system_error& error) {
        return model::refuse(model::Refusal::Reason::storage, "the link of " + instance.id.short_id(),
                             error.what(), "set a larger LimitNOFILE= for cgpud");
    }
}

InstanceLink::InstanceLink(const model::Instance& instance, InstanceFolder instance_folder,
                           std::filesystem::path folder, std::shared_ptr<DoorbellPage> doorbell,
                           const Outside& outside, const Settings& settings, DescriptorBudget& descriptors,
                           Told& told)
    : instance_(instance),
      instance_folder_(std::move(instance_folder)),
      folder_(std::move(folder)),
      outside_(outside),
      settings_(settings),
      log_(instance, told.lines, outside.loop),
      notices_(instance_, log_, told.unreachable),
      doorbell_(std::move(doorbell)),
      descriptors_(descriptors),
      loop_(outside.loop),
      driver_(instance_, folder_.parent_path(), outside, settings.hello_deadline, log_),
      asks_(instance_, outside, settings, log_, told.refusals),
      peers_(instance.id, outside, [this](const model::Process& process) { process_ended(process); }) {}

InstanceLink::~InstanceLink() = default;

void InstanceLink::start(std::unique_ptr<Listener> listener) {
    cgroup_ = own_cgroup();
    outside_.divider.doorbell_added(instance_.id, doorbell_);
    outside_.leases.set_instance(instance_);
    for (const auto& process : outside_.leases.pools().living(key())) {
        peers_.enter(process);
        outside_.engines.known({who(process)});
    }
    listener_ = std::move(listener);
    listener_->start(loop_, [this](int fd) { accepted(fd); });
}

void InstanceLink::refresh(const model::Instance& instance) {
    const bool other_first = instance_.attached != instance.attached;
    instance_ = instance;
    if (other_first) cgroup_ = own_cgroup();
    outside_.leases.set_instance(instance);
    for (const auto& [process, peer] : peers_.all())
        if (peer.pages) peer.pages->refresh(instance_, outside_);
    for (const auto& connection : connections_)
        if (connection->orders()) connection->orders()->refresh(instance_, outside_);
}

void InstanceLink::packet(Connection& connection, std::span<const std::byte> packet) {
    if (!connection.role()) {
        const auto first = wire::read_message<wire::Hello>(packet);
        return first ? hello(connection, *first) : malformed(connection, "something else than a Hello");
    }
    if (const auto message = wire::read_message<wire::Ask>(packet)) return asks_.ask(connection, *message);
    if (const auto message = wire::read_message<wire::Give>(packet)) return give(connection, *message);
    if (const auto message = wire::read_message<wire::AskProcesses>(packet))
        return list_processes(connection, *message, instance_, peers_, outside_);
    if (const auto message = wire::read_message<wire::Notice>(packet)) return notice(connection, *message);
    if (const auto message = wire::read_message<wire::Switched>(packet))
        return switched(connection, *message);
    malformed(connection, "a packet that is not one of the link's");
}

void InstanceLink::malformed(Connection& connection, const char* what) {
    refuse_malformed(connection, log_, what);
}

void InstanceLink::give(Connection& connection, const wire::Give& give) {
    if (!asks_.give(connection, give)) malformed(connection, "a Give of what it can't have");
}

void InstanceLink::notice(Connection& connection, const wire::Notice& notice) {
    if (!notices_.told(connection.process().pid, notice))
        malformed(connection, "a Notice of an unknown event");
}

void InstanceLink::process_ended(const model::Process& process) {
    for (const auto& connection : connections_)
        if (connection->process() == process) connection->read_rest();
    // Before its pages are released: the leases read its last report.
    outside_.leases.process_exited(process);
    for (const auto& connection : connections_)
        if (connection->process() == process) connection->drop();
    peers_.remove(process);
    outside_.engines.gone({who(process)});
    tell_if_idle();
}

void InstanceLink::dropped(Connection& connection) {
    if (connection.role() == wire::Role::compute)
        outside_.engines.lost({who(connection.process()), connection.number()});
    // Later, because this is called from inside the connection.
    outside_.loop.post([this, gone = &connection, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) std::erase_if(connections_, [&](const auto& c) { return c.get() == gone; });
    });
}

void InstanceLink::tell_if_idle() {
    if (!empty() || outside_.leases.pools().holds_any(instance_.id)) return;
    outside_.loop.post([this, alive = std::weak_ptr(alive_)] {
        if (!alive.expired() && empty() && !outside_.leases.pools().holds_any(instance_.id))
            outside_.on_idle(instance_.id);
    });
}

std::optional<app::LeaseReport> InstanceLink::report(const model::Process& process,
                                                     const model::Uuid& gpu) const {
    const auto* peer = peers_.find(process);
    const auto index = index_of(gpu);
    if (peer == nullptr || !peer->pages || !index) return std::nullopt;
    const auto& reports = *peer->pages->reports;
    const auto& on_gpu = reports.gpus[*index];
    if (on_gpu.updated_ns.load(std::memory_order_acquire) == 0) return std::nullopt;
    return app::LeaseReport{on_gpu.charged_bytes, on_gpu.pooled_bytes, reports.changing, reports.changes};
}

bool InstanceLink::recall(const model::Process& process, const model::Uuid& gpu, std::uint64_t bytes) {
    const auto connection = peers_.connection_of(process);
    const auto index = index_of(gpu);
    if (!connection || !index) return false;
    auto message = wire::make_message<wire::Recall>();
    message.gpu = *index;
    message.bytes = bytes;
    return connection->send(message);
}

bool InstanceLink::take_in(const model::Process& process, const app::ProcessLook& look,
                           const model::Uuid& gpu) {
    if (!has_member(process, look)) return false;
    if (const auto entered = outside_.leases.stranger_entered(key(), process, gpu); !entered)
        log_.write(process.pid, entered.error().text);
    else
        peers_.enter(process);
    return true;
}

bool InstanceLink::take_cut_off(const model::Process& process, const app::ProcessLook& look) {
    if (!has_member(process, look)) return false;
    notices_.cut_off(process.pid);
    return true;
}

std::optional<std::uint32_t> InstanceLink::index_of(const model::Uuid& gpu) const {
    for (std::uint32_t i = 0; i < instance_.quotas.size(); ++i)
        if (instance_.quotas[i].gpu == gpu) return i;
    return std::nullopt;
}

// Connecting a process: accept, Hello, Welcome.

bool InstanceLink::room_for_another() {
    std::size_t strangers = 0;
    std::size_t descriptors = peers_.all().size() * Connection::kDescriptorsOfProcess;
    for (const auto& connection : connections_) {
        descriptors += connection->descriptors();
        if (!connection->role()) ++strangers;
    }
    descriptors_.has(descriptors);
    return strangers < settings_.max_strangers && descriptors_.room() &&
           connections_.size() < settings_.max_processes * settings_.max_connections;
}

void InstanceLink::accepted(int fd) {
    PeerSocket socket{Descriptor(fd)};
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

/// If a process has the link mounted, it belongs to the instance. One with other mounts by now is recognised
/// by its parents or its cgroup. The folder is closed to others: this is for processes that reach the socket
/// in another way, for pids that were used again, and for users who create instances of their own.
bool InstanceLink::has_member(const model::Process& process, const app::ProcessLook& look) const {
    // The text of its mounts is the longest, so the parents are asked first.
    return is_known(process) || (instance_.attached && look.descends(*instance_.attached)) ||
           look.sees(folder_) || shares_cgroup(process, look);
}

/// Users choose ids, and cgroups of others may bear them. Rootless containers' processes have other user ids.
bool InstanceLink::shares_cgroup(const model::Process& process, const app::ProcessLook& look) const {
    const auto owner = instance_.creator.value_or(0);
    const auto slice = "/user-" + std::to_string(owner) + ".slice/";
    return look.is_in_cgroup(cgroup_) && (owner == 0 || cgroup_.find(slice) != std::string::npos ||
                                          outside_.processes.user_of(process) == owner);
}

std::string InstanceLink::own_cgroup() const {
    if (!instance_.attached) return {};
    return outside_.processes.cgroup_made_for(*instance_.attached, instance_.id.short_id());
}

app::WatchPtr InstanceLink::find_member(std::vector<model::Process> others, app::FoundProcess call) const {
    auto found = [this, link = std::weak_ptr(alive_),
                  call = std::move(call)](std::optional<model::Process> first) {
        if (!first && !link.expired())
            for (const auto& [process, peer] : peers_.all())
                if (outside_.processes.alive(process) && (!first || process.start_time < first->start_time))
                    first = process;
        call(first);
    };
    return outside_.processes.find_first_to_see(folder_, std::move(others), std::move(found));
}

void InstanceLink::hello(Connection& connection, const wire::Hello& hello) {
    // A look reads the process's mounts, which takes long when all processes of a node connect again.
    const auto& process = connection.process();
    if (!is_known(process) && !has_member(process, *outside_.processes.look_at(process))) {
        log_.write(connection.process().pid, "it does not belong to this instance, and was refused");
        return connection.refuse(wire::Why::bad_request,
                                 "Process " + std::to_string(connection.process().pid) +
                                     " does not belong to instance " + instance_.id.short_id() +
                                     ". Try: start it by cgpuctl run or in the container.");
    }
    const auto version = wire::common_version(wire::kSpoken, {hello.oldest_version, hello.newest_version});
    if (version == 0)
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
            return driver_.send(connection);
        case wire::Role::hand_over:
            return driver_.expect(connection.shared_from_this());
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
    wire::put_text(welcome.engine, outside_.engines.engine_for_new());
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
    // While another front of the process computes, it gets the same pages: two sets would hide each other's
    // reports. Otherwise it gets new pages: a thread may still read the old ones.
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
    peer.connection = connection.weak_from_this();
    connection.welcomed(wire::Role::compute, std::nullopt);
    const std::array fds{peer.pages->orders_fd(), peer.pages->reports_fd(), doorbell_->fd()};
    if (!connection.send(welcome_message(version), fds)) return;
    outside_.engines.connected({who(process), connection.number(), upgrade::Version::unpack(front_version)});
}

// The engines of the processes, and their exchange.

void InstanceLink::switch_engine(const upgrade::Switch& order, const std::string& engine) {
    const auto found = std::find_if(connections_.begin(), connections_.end(), [&](const auto& connection) {
        return connection->number() == order.front && connection->usable();
    });
    if (found == connections_.end()) return;
    auto message = wire::make_message<wire::Switch>(order.request);
    message.version = order.to.packed();
    message.deadline_ms = order.deadline_ms;
    wire::put_text(message.engine, engine);
    (*found)->send(message);
}

void InstanceLink::switched(Connection& connection, const wire::Switched& switched) {
    if (connection.role() != wire::Role::compute)
        return malformed(connection, "a Switched without an engine");
    const std::string detail = switched.detail[0] == '\0' ? "" : model::quote(switched.detail);
    outside_.engines.said({who(connection.process()), connection.number(), switched.header.request,
                           switched.result, upgrade::Version::unpack(switched.version), detail});
}

void InstanceLink::forget_descriptors() {
    driver_.forget();
    listener_->forget();
}

void InstanceLink::forget_engines() {
    for (const auto& [process, peer] : peers_.all()) outside_.engines.gone({who(process)});
}

}  // namespace cgpu::link
