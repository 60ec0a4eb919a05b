#include "daemon/link/instance/memory_asks.hpp"

namespace cgpu::link {

MemoryAsks::MemoryAsks(const model::Instance& instance, const Outside& outside, const Settings& settings,
                       NoticeLog& log, app::RepeatedByUser& refusals)
    : instance_(instance), outside_(outside), settings_(settings), log_(log), refusals_(refusals) {}

void MemoryAsks::ask(Connection& connection, const wire::Ask& ask) {
    if (ask.gpu >= instance_.quotas.size()) return answer(connection, ask, wire::Why::unknown_gpu);
    const auto lease = lease_key(connection, ask.gpu);
    const bool computes = connection.role() == wire::Role::compute;
    if (ask.topic != wire::Topic::usage && !computes) return answer(connection, ask, wire::Why::bad_request);
    switch (ask.topic) {
        case wire::Topic::lease:
            return ask_leases(connection, ask, app::LeaseAsk::What::lease);
        case wire::Topic::context:
            return ask_leases(connection, ask, app::LeaseAsk::What::context);
        case wire::Topic::load:
            return ask_leases(connection, ask, app::LeaseAsk::What::load);
        case wire::Topic::usage:
            if (computes && outside_.leases.awaits_context(lease))
                return ask_leases(connection, ask, app::LeaseAsk::What::usage);
            if (auto& page = connection.orders()) page->show_share(ask.gpu, share(ask.gpu));
            return answer(connection, ask, wire::Why::none);
        case wire::Topic::made:
            outside_.leases.made(lease);
            return answer(connection, ask, wire::Why::none);
        case wire::Topic::not_made:
            outside_.leases.not_made(lease, wire::align_up(ask.bytes));
            return answer(connection, ask, wire::Why::none);
        case wire::Topic::moved:
            outside_.leases.moved(lease, ask.bytes);
            return answer(connection, ask, wire::Why::none);
        case wire::Topic::context_gone:
            outside_.leases.context_gone(lease);
            return answer(connection, ask, wire::Why::none);
        case wire::Topic::lease_held:
            outside_.leases.held(lease, wire::align_up(ask.bytes));
            return answer(connection, ask, wire::Why::none);
        case wire::Topic::shared:
            outside_.leases.opened_shared(lease, ask.bytes);
            return answer(connection, ask, wire::Why::none);
        case wire::Topic::exported:
            outside_.leases.exported(lease, wire::align_up(ask.bytes));
            return answer(connection, ask, wire::Why::none);
        case wire::Topic::refused:
            return refused(connection, ask);
    }
    answer(connection, ask, wire::Why::bad_request);
}

void MemoryAsks::ask_leases(Connection& connection, const wire::Ask& ask, app::LeaseAsk::What what) {
    const bool odd = what == app::LeaseAsk::What::lease && ask.bytes % wire::kGranule != 0;
    if (odd || connection.waiting_asks >= settings_.max_waiting_asks)
        return answer(connection, ask, wire::Why::bad_request);
    ++connection.waiting_asks;
    auto reply = [this, peer = connection.weak_from_this(), alive = std::weak_ptr(alive_), gpu = ask.gpu,
                  request = ask.header.request](const app::LeaseAnswer& answer) {
        const auto to = peer.lock();
        if (!to || alive.expired()) return false;
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
    outside_.leases.ask({lease_key(connection, ask.gpu), what, wire::align_up(ask.bytes)}, std::move(reply));
}

void MemoryAsks::refused(const Connection& connection, const wire::Ask& ask) {
    const auto lease = lease_key(connection, ask.gpu);
    if (!outside_.leases.allocation_refused(lease, ask.bytes)) return;
    const auto& leases = outside_.leases;
    refusals_.happened(instance_, {.gpu = lease.pool.gpu,
                                   .process = connection.process().pid,
                                   .asked = ask.bytes,
                                   .used = leases.pools().used(lease.pool),
                                   .limit = leases.pools().limit(lease.pool),
                                   .number = leases.pools().refused(instance_.id, lease.pool.gpu)});
}

void MemoryAsks::answer(Connection& connection, const wire::Ask& ask, wire::Why why) {
    auto message = wire::make_message<wire::Answer>(ask.header.request);
    message.gpu = ask.gpu;
    message.why = why;
    if (ask.gpu < instance_.quotas.size()) {
        const auto pool = lease_key(connection, ask.gpu).pool;
        message.limit_bytes = outside_.leases.pools().limit(pool);
        message.used_bytes = outside_.leases.pools().used(pool);
    }
    connection.send(message);
}

std::optional<double> MemoryAsks::share(std::uint32_t gpu) {
    constexpr app::Nanos kEvery = app::kSecond / 10;
    if (gpu >= shares_.size()) return std::nullopt;
    auto& last = shares_[gpu];
    const auto now = outside_.loop.now();
    if (!last || now - last->looked_up_at >= kEvery)
        last = Share{now, outside_.achieved_share(instance_.id, instance_.quotas[gpu].gpu)};
    return last->value;
}

bool MemoryAsks::give(const Connection& connection, const wire::Give& give) {
    if (connection.role() != wire::Role::compute || give.gpu >= instance_.quotas.size()) return false;
    outside_.leases.give(lease_key(connection, give.gpu), wire::align_down(give.bytes), give.exported == 1);
    return true;
}

app::LeaseKey MemoryAsks::lease_key(const Connection& connection, std::uint32_t gpu) const {
    return {{app::key_of(instance_), instance_.quotas[gpu].gpu}, connection.process()};
}

}  // namespace cgpu::link
