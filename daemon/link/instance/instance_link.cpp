#include "daemon/link/instance/instance_link.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/model/quote.hpp"
#include "core/model/size.hpp"

namespace cgpu::link {
namespace {

const char* describe(wire::Event event) {
    switch (event) {
        case wire::Event::managed_memory_refused:
            return "managed memory was refused: it can't be held to the memory limit. Try: cudaMalloc, or "
                   "mode none";
        case wire::Event::foreign_device_refused:
            return "a GPU that is not one of the instance's was refused";
        case wire::Event::engine_failed:
            return "the engine failed";
        case wire::Event::gate_ran_out:
            return "cgpud was silent for too long, launches went on without it";
    }
    return nullptr;
}

}  // namespace

app::Result<std::unique_ptr<InstanceLink>> InstanceLink::open(const model::Instance& instance,
                                                              const std::filesystem::path& folder,
                                                              const Outside& outside,
                                                              const Settings& settings,
                                                              DescriptorBudget& descriptors) {
    auto closed = InstanceFolder::open(folder);
    if (!closed) return tl::unexpected(closed.error());
    auto bell = BellPage::make();
    if (!bell) return tl::unexpected(bell.error());
    auto listener = Listener::open(folder / "link");
    if (!listener) return tl::unexpected(listener.error());
    try {
        std::unique_ptr<InstanceLink> link(new InstanceLink(
            instance, std::move(*closed), folder / "link", std::move(*bell), outside, settings, descriptors));
        link->start(std::move(*listener));
        return link;
    } catch (const std::system_error& error) {
        return model::refuse(model::Refusal::Reason::storage, "the link of " + instance.id.short_id(),
                             error.what(), "a larger LimitNOFILE= for cgpud");
    }
}

InstanceLink::InstanceLink(const model::Instance& instance, InstanceFolder instance_folder,
                           std::filesystem::path folder, std::shared_ptr<BellPage> bell,
                           const Outside& outside, const Settings& settings, DescriptorBudget& descriptors)
    : instance_(instance),
      instance_folder_(std::move(instance_folder)),
      folder_(std::move(folder)),
      outside_(outside),
      settings_(settings),
      log_(instance.id.short_id(), outside.loop),
      refusals_(instance.id.short_id(), outside.loop),
      bell_(std::move(bell)),
      descriptors_(descriptors),
      loop_(outside.loop),
      driver_(key(), folder_.parent_path(), outside.descriptors),
      peers_(instance.id, outside, [this](const model::Process& process) { process_ended(process); }) {}

InstanceLink::~InstanceLink() = default;

void InstanceLink::start(std::unique_ptr<Listener> listener) {
    outside_.gates.bell_added(instance_.id, bell_);
    outside_.leases.set_instance(instance_);
    for (const auto& process : outside_.leases.living(key())) {
        peers_.enter(process);
        outside_.engines.known({who(process)});
    }
    listener_ = std::move(listener);
    listener_->start(loop_, [this](int fd) { accepted(fd); });
}

void InstanceLink::refresh(const model::Instance& instance) {
    instance_ = instance;
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
    if (connection.role() == wire::Role::hand_over) return hand_over(connection, packet);
    if (const auto message = wire::read_message<wire::Ask>(packet)) return ask(connection, *message);
    if (const auto message = wire::read_message<wire::Give>(packet)) return give(connection, *message);
    if (const auto message = wire::read_message<wire::AskProcesses>(packet))
        return list_processes(connection, *message);
    if (const auto message = wire::read_message<wire::Notice>(packet)) return notice(connection, *message);
    if (const auto message = wire::read_message<wire::Switched>(packet))
        return switched(connection, *message);
    malformed(connection, "a packet that is not one of the link's");
}

void InstanceLink::malformed(Connection& connection, const char* what) {
    log_.write(connection.process().pid, std::string("sent ") + what + "; its connection was closed");
    connection.refuse(wire::Why::bad_request, std::string("cgpud got ") + what + ".");
}

void InstanceLink::ask(Connection& connection, const wire::Ask& ask) {
    if (ask.gpu >= instance_.quotas.size()) return answer_figures(connection, ask, wire::Why::unknown_gpu);
    const auto lease = lease_key(connection, ask.gpu);
    const bool computes = connection.role() == wire::Role::compute;
    if (ask.topic != wire::Topic::usage && !computes)
        return answer_figures(connection, ask, wire::Why::bad_request);
    switch (ask.topic) {
        case wire::Topic::lease:
            return ask_memory(connection, ask, app::LeaseAsk::What::lease);
        case wire::Topic::context:
            return ask_memory(connection, ask, app::LeaseAsk::What::context);
        case wire::Topic::load:
            return ask_memory(connection, ask, app::LeaseAsk::What::load);
        case wire::Topic::usage:
            return answer_figures(connection, ask, wire::Why::none);
        case wire::Topic::made:
            outside_.leases.made(lease);
            return answer_figures(connection, ask, wire::Why::none);
        case wire::Topic::not_made:
            outside_.leases.not_made(lease, ask.bytes);
            return answer_figures(connection, ask, wire::Why::none);
        case wire::Topic::moved:
            outside_.leases.moved(lease, ask.bytes);
            return answer_figures(connection, ask, wire::Why::none);
        case wire::Topic::context_gone:
            outside_.leases.context_gone(lease);
            return answer_figures(connection, ask, wire::Why::none);
        case wire::Topic::lease_held:
            outside_.leases.held(lease, ask.bytes);
            return answer_figures(connection, ask, wire::Why::none);
        case wire::Topic::refused:
            refused(connection, ask);
            return answer_figures(connection, ask, wire::Why::none);
    }
    answer_figures(connection, ask, wire::Why::bad_request);
}

void InstanceLink::ask_memory(Connection& connection, const wire::Ask& ask, app::LeaseAsk::What what) {
    const bool odd = what == app::LeaseAsk::What::lease && ask.bytes % wire::kGranule != 0;
    if (odd || connection.waiting_asks >= settings_.max_waiting_asks)
        return answer_figures(connection, ask, wire::Why::bad_request);
    ++connection.waiting_asks;
    auto reply = [this, peer = std::weak_ptr(share(connection)), link = std::weak_ptr(alive_), gpu = ask.gpu,
                  request = ask.header.request](const app::LeaseAnswer& answer) {
        const auto to = peer.lock();
        if (!to || link.expired()) return false;
        --to->waiting_asks;
        if (!answer.trouble.empty()) log_.write(to->process().pid, answer.trouble);
        auto message = wire::make_message<wire::Answer>(request);
        message.gpu = gpu;
        message.why = answer.why;
        message.granted_bytes = answer.granted;
        message.limit_bytes = answer.limit;
        message.used_bytes = answer.used;
        return to->send(message);
    };
    outside_.leases.ask({lease_key(connection, ask.gpu), what, ask.bytes}, std::move(reply));
}

void InstanceLink::refused(const Connection& connection, const wire::Ask& ask) {
    const auto lease = lease_key(connection, ask.gpu);
    if (!outside_.leases.allocation_refused(lease, ask.bytes)) return;
    const auto& leases = outside_.leases;
    const auto number = leases.refused(instance_.id, lease.pool.gpu);
    refusals_.write(connection.process().pid,
                    "an allocation of " + model::format_size(model::Bytes(ask.bytes)) + " on GPU " +
                        lease.pool.gpu.to_string() + " was refused (refusal " + std::to_string(number) +
                        "): " + model::format_mib(model::Bytes(leases.used(lease.pool))) +
                        " of its limit of " + model::format_mib(model::Bytes(leases.limit(lease.pool))) +
                        " are in use");
}

void InstanceLink::answer_figures(Connection& connection, const wire::Ask& ask, wire::Why why) {
    auto message = wire::make_message<wire::Answer>(ask.header.request);
    message.gpu = ask.gpu;
    message.why = why;
    if (ask.gpu < instance_.quotas.size()) {
        const auto pool = lease_key(connection, ask.gpu).pool;
        message.limit_bytes = outside_.leases.limit(pool);
        message.used_bytes = outside_.leases.used(pool);
    }
    connection.send(message);
}

void InstanceLink::give(Connection& connection, const wire::Give& give) {
    if (connection.role() != wire::Role::compute || give.gpu >= instance_.quotas.size())
        return malformed(connection, "a Give of what it can't have");
    outside_.leases.give(lease_key(connection, give.gpu), give.bytes);
}

void InstanceLink::notice(Connection& connection, const wire::Notice& notice) {
    const char* text = describe(notice.event);
    if (text == nullptr) return malformed(connection, "a Notice of an unknown event");
    std::string line = std::string(text) + " (GPU " + std::to_string(notice.gpu);
    if (notice.detail[0] != '\0') line += ", " + model::quote(notice.detail);
    log_.write(connection.process().pid, line + ")");
}

void InstanceLink::process_ended(const model::Process& process) {
    // Before its pages go: the leases read its last report.
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
    // Later: this is called from inside the connection.
    outside_.loop.post([this, gone = &connection, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) std::erase_if(connections_, [&](const auto& c) { return c.get() == gone; });
    });
}

void InstanceLink::tell_if_idle() {
    if (!empty() || outside_.leases.holds_any(instance_.id)) return;
    outside_.loop.post([this, alive = std::weak_ptr(alive_)] {
        if (!alive.expired() && empty() && !outside_.leases.holds_any(instance_.id))
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

bool InstanceLink::take_in(const model::Process& process, const model::Uuid& gpu) {
    if (!has_member(process)) return false;
    if (const auto entered = outside_.leases.stranger_entered(key(), process, gpu); !entered)
        log_.write(process.pid, entered.error().text);
    else
        peers_.enter(process);
    return true;
}

std::shared_ptr<Connection> InstanceLink::share(const Connection& connection) const {
    const auto found = std::find_if(connections_.begin(), connections_.end(),
                                    [&](const auto& other) { return other.get() == &connection; });
    return found == connections_.end() ? nullptr : *found;
}

std::optional<std::uint32_t> InstanceLink::index_of(const model::Uuid& gpu) const {
    for (std::uint32_t i = 0; i < instance_.quotas.size(); ++i)
        if (instance_.quotas[i].gpu == gpu) return i;
    return std::nullopt;
}

app::LeaseKey InstanceLink::lease_key(const Connection& connection, std::uint32_t gpu) const {
    return {{key(), instance_.quotas[gpu].gpu}, connection.process()};
}

}  // namespace cgpu::link
