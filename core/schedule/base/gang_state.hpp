#pragma once

#include <array>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// What the GPU that leads an instance reports of the instance's turn there.
enum class Lead {
    none,     ///< nothing: it has no work there, or no other instance wants that GPU, or it isn't ganged
    held,     ///< it waits for its turn
    called,   ///< it holds the GPU
    leaving,  ///< its turn is over, and its work drains
};

/// What one GPU reports of an instance to the other GPUs of the instance; or those reports merged.
struct GangState {
    Lead lead = Lead::none;
    bool busy = false;  ///< it has or wants work there
    /// Recently, its work there waited for a launch that another GPU's gate held.
    bool waits_across_gpus = false;
    bool wants = false;  ///< a launch of it is held there
    bool stuck = false;  ///< its work there, behind a closed gate, should have finished by now

    /// Merges the report of one more GPU. `leads`: that GPU comes before the GPU that receives the report.
    /// The first of these that reports a turn leads.
    void hear(const GangState& gpu, bool leads) {
        if (leads && lead == Lead::none) lead = gpu.lead;
        busy |= gpu.busy;
        waits_across_gpus |= gpu.waits_across_gpus;
        wants |= gpu.wants;
        stuck |= gpu.stuck;
    }

    bool operator==(const GangState&) const = default;
};

/// By slot of the GPU that receives the reports.
using GangStates = std::array<GangState, kSlots>;

}  // namespace cgpu::schedule
