#include "core/queue/places.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::queue {
namespace {

/// How many moments admission is asked about for one request before it gets no slot.
constexpr std::size_t kMostMoments = 8;

/// The same GPUs at the same moment, with as much of each.
bool is_same_place(const Slot& slot, const Slot& before) {
    const auto is_there = [&](const model::Quota& then) {
        return std::ranges::any_of(slot.grant.quotas, [&](const model::Quota& its) {
            return its.gpu == then.gpu && its.memory_limit == then.memory_limit &&
                   its.exclusive == then.exclusive && its.weight >= then.weight;
        });
    };
    return slot.from == before.from && slot.grant.mode == before.grant.mode &&
           std::ranges::all_of(before.grant.quotas, is_there);
}

/// At this moment, on the first GPUs that admission chooses and that keep the places of those before.
std::optional<Slot> slot_at(Planner& planner, const Scene& scene, const Ask& ask, const Closings& closings,
                            std::size_t moment) {
    GpuSet without(closings.size());
    while (auto slot = planner.at(scene.forecast, ask, closings, moment, without)) {
        if (keeps_places(planner, scene, *slot)) return slot;
        for (const model::Quota& quota : slot->grant.quotas)
            without[*scene.forecast.place_of(quota.gpu)] = true;
    }
    return std::nullopt;
}

}  // namespace

bool touches(const Forecast& forecast, const Needs& needs, const Slot& slot) {
    return std::ranges::any_of(slot.grant.quotas, [&](const model::Quota& quota) {
        return needs.on[*forecast.place_of(quota.gpu)].has_value();
    });
}

bool keeps_places(Planner& planner, const Scene& scene, const Slot& slot) {
    // It isn't there, or not yet, when those begin; or nowhere that they could be.
    if (std::ranges::all_of(scene.before, [&](const Reserved& each) {
            return slot.from >= each.slot.from || slot.until <= each.slot.from ||
                   !touches(scene.running, *each.needs, slot);
        }))
        return true;
    // It fits beside their places. But placement looks at what else is there, so they may be put elsewhere,
    // and take the place of the next.
    Forecast running = scene.running;
    running.add(slot.placed());
    Forecast forecast = running;
    for (std::size_t i = 0; i < scene.before.size(); ++i) {
        const Reserved& each = scene.before[i];
        const Ask ask{each.waiting, each.needs.get(), nullptr};
        const Scene its_scene{running, forecast, scene.before.first(i)};
        const auto its = find_slot(planner, its_scene, ask, each.closings, 1, each.slot.from).slot;
        if (!its || !is_same_place(*its, each.slot)) return false;
        forecast.add(its->placed());
    }
    return true;
}

Search find_slot(Planner& planner, const Scene& scene, const Ask& ask, const Closings& closings,
                 std::size_t from, Nanos latest) {
    const Forecast& forecast = scene.forecast;
    std::size_t asked = 0;
    for (std::size_t moment = from; moment < forecast.moments() && forecast.at(moment) <= latest; ++moment) {
        // The later it begins, the more is closed to it.
        if (!is_open(*ask.needs, closings, end_of(*ask.waiting, forecast.at(moment)))) break;
        if (!forecast.has_room(*ask.needs, moment)) continue;
        if (asked++ == kMostMoments || planner.exhausted()) return {std::nullopt, false};
        if (auto slot = slot_at(planner, scene, ask, closings, moment)) return {std::move(slot)};
    }
    return {std::nullopt, !planner.exhausted()};
}

}  // namespace cgpu::queue
