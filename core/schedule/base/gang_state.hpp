#pragma once

#include <array>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// What the GPU that leads an instance says of its turn there.
enum class Lead {
    none,     ///< nothing: it has no work there, or nobody else wants that GPU, or it isn't ganged
    held,     ///< it waits for its turn
    called,   ///< it holds the GPU
    leaving,  ///< its turn is over, and its work drains
};

/// What one GPU says of an instance to the others that the instance is on; or what all of those say together.
struct GangState {
    Lead lead = Lead::none;
    bool busy = false;  ///< it has or wants work there
    /// Lately its work there has waited for a launch that was held on another GPU.
    bool waits_across_gpus = false;
    bool wants = false;  ///< a launch of it is held there
    bool stuck = false;  ///< its work there, behind a closed gate, should have been done by now

    /// Takes in what one more GPU says. `leads`: that one comes before the GPU that listens; the first of
    /// those with a word to say leads.
    void hear(const GangState& gpu, bool leads) {
        if (leads && lead == Lead::none) lead = gpu.lead;
        busy |= gpu.busy;
        waits_across_gpus |= gpu.waits_across_gpus;
        wants |= gpu.wants;
        stuck |= gpu.stuck;
    }

    bool operator==(const GangState&) const = default;
};

/// By slot of the GPU that listens.
using GangStates = std::array<GangState, kSlots>;

}  // namespace cgpu::schedule
