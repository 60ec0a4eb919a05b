#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "core/queue/slots.hpp"

namespace cgpu::queue {

/// One that waits and has a place in the forecast.
struct Reserved {
    const Waiting* waiting = nullptr;
    std::shared_ptr<const Needs> needs;
    Closings closings;  ///< by those before it
    Slot slot;
    std::size_t wait = 0;  ///< its place in Decision::waits
};

/// What one is placed beside.
struct Scene {
    const Forecast& running;           ///< what runs, with those who start
    const Forecast& forecast;          ///< the same, with those before it who have a place
    std::span<const Reserved> before;  ///< these
};

/// What a search for a slot has found.
struct Search {
    std::optional<Slot> slot;
    bool of_all = true;  ///< it has asked about every moment before
};

/// Whether the slot is on one of the GPUs that they could use.
[[nodiscard]] bool touches(const Forecast& forecast, const Needs& needs, const Slot& slot);

/// Whether all before still get their places if this one is there, too.
[[nodiscard]] bool keeps_places(Planner& planner, const Scene& scene, const Slot& slot);

/// The first slot from one moment to another in which it keeps their places. Who starts is placed in the same
/// way as who gets a place for later, so what was promised is what happens.
[[nodiscard]] Search find_slot(Planner& planner, const Scene& scene, const Ask& ask, const Closings& closings,
                               std::size_t from, Nanos latest);

}  // namespace cgpu::queue
