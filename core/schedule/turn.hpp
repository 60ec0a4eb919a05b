#pragma once

#include <optional>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// The turn of the instance that holds the GPU. Times in nanoseconds.
struct Turn {
    std::size_t slot = 0;
    bool priority = false;   ///< it is charged to the high-priority bucket
    bool contended = false;  ///< others want the GPU, or slices of idle instances are due
    Nanos start = 0;
    Nanos base = 0;  ///< used + in-flight estimate at the start
    Nanos budget = 0;
    Nanos charged = 0;         ///< to the holder, in this turn
    Nanos measured = 0;        ///< by its processes, the most of one step of this turn
    Nanos busy = 0;            ///< time that the holder had work
    Nanos held = 0;            ///< time in which it was contended
    Nanos paid = 0;            ///< the part of `charged` in that time
    Nanos waited = 0;          ///< time that the holder's launches waited, in that time
    Nanos beside = 0;          ///< the part of it that undrained work of others may have taken
    Nanos held_up = 0;         ///< so long the high-priority bucket didn't fill, because it was late
    Nanos undrained_took = 0;  ///< time that undrained work of others took, and what was let through
    Nanos given_back = 0;      ///< the part of `charged` that was theirs
    std::optional<Nanos> closed_at;
    Nanos drain_deadline = 0;  ///< once it is closed
    bool cut_short = false;
    bool called = false;  ///< by the GPU that leads the holder, at some time in this turn
};

}  // namespace cgpu::schedule
