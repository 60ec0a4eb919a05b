#include "core/queue/slots.hpp"

#include <algorithm>
#include <utility>

#include "core/limits/allowance.hpp"

namespace cgpu::queue {
namespace {

bool are_enough(const GpuSet& gpus, const Needs& needs) {
    return needs.count > 0 && static_cast<std::size_t>(std::ranges::count(gpus, true)) >= needs.count;
}

GpuSet gpus_of(const Forecast& forecast, const std::vector<model::Quota>& quotas) {
    GpuSet gpus(forecast.gpus().size());
    for (const model::Quota& quota : quotas)
        if (const auto place = forecast.place_of(quota.gpu)) gpus[*place] = true;
    return gpus;
}

/// The GPUs on which it wouldn't fit with what begins while it is there.
GpuSet in_the_way(const Forecast& forecast, const Slot& slot) {
    const GpuSet its = gpus_of(forecast, slot.grant.quotas);
    GpuSet found(its.size());
    for (const std::size_t begin : forecast.begins_between(slot.from, slot.until)) {
        const model::Node node = forecast.node_at(begin, its);
        for (const model::Quota& quota : slot.grant.quotas)
            if (!node.check_quota(slot.grant.mode, quota)) found[*forecast.place_of(quota.gpu)] = true;
    }
    return found;
}

}  // namespace

Nanos end_of(const Waiting& waiting, Nanos from) {
    if (!waiting.length) return kNever;
    const Nanos length = std::max<Nanos>(*waiting.length, 1);
    return from > kNever - length ? kNever : from + length;
}

bool is_open(const Needs& needs, const Closings& closings, Nanos until) {
    std::size_t open = 0;
    for (std::size_t gpu = 0; gpu < closings.size(); ++gpu)
        if (needs.on[gpu] && closings[gpu].until >= until) ++open;
    return open >= needs.count;
}

std::optional<admission::Grant> Planner::plan(const model::Node& node, const Ask& ask) {
    ++plans_;
    defaults_.allowance = ask.allowance;
    auto grant = admission::admit(node, ask.waiting->request, defaults_);
    if (!grant) return std::nullopt;
    if (ask.allowance != nullptr && !ask.allowance->check_instance(grant->quotas)) return std::nullopt;
    return std::move(*grant);
}

std::optional<Slot> Planner::at(const Forecast& forecast, const Ask& ask, const Closings& closings,
                                std::size_t moment, const GpuSet& without) {
    const Nanos from = forecast.at(moment);
    const Nanos until = end_of(*ask.waiting, from);
    GpuSet gpus = forecast.room_for(*ask.needs, moment, until);
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
        if (closings[gpu].until < until || (until == kNever && from < closings[gpu].calm_until) ||
            (!without.empty() && without[gpu]))
            gpus[gpu] = false;
    while (are_enough(gpus, *ask.needs) && !exhausted()) {
        auto grant = plan(forecast.node_at(moment, gpus), ask);
        if (!grant) return std::nullopt;
        Slot slot{from, until, std::move(*grant)};
        const GpuSet taken = in_the_way(forecast, slot);
        if (std::ranges::count(taken, true) == 0) return slot;
        for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) gpus[gpu] = gpus[gpu] && !taken[gpu];
    }
    return std::nullopt;
}

}  // namespace cgpu::queue
