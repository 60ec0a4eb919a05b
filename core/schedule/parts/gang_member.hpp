#pragma once

#include "core/schedule/base/gang_state.hpp"

namespace cgpu::schedule {

/// What one GPU knows of an instance's gang: what the other GPUs of the instance say, and whether the
/// instance's work was seen to wait for a launch that another GPU holds.
class GangMember {
  public:
    /// At the begin of each step: what the other GPUs say, as of their last steps.
    void hear(const GangState& others, Nanos now);
    /// Work here waits for a launch that is held on another GPU: the instance is ganged until then.
    void note_wait_across_gpus(Nanos until);

    [[nodiscard]] const GangState& others() const { return others_; }
    /// Work on this GPU has waited for another GPU lately.
    [[nodiscard]] bool waits_across_gpus() const { return waits_across_gpus_; }
    /// Work on any of the instance's GPUs has.
    [[nodiscard]] bool ganged() const { return waits_across_gpus_ || others_.waits_across_gpus; }
    /// What runs here may be waiting for a launch that is held on another GPU.
    [[nodiscard]] bool may_wait_for_others() const { return ganged() && others_.wants; }
    /// The GPU that leads the instance gives it a turn now.
    [[nodiscard]] bool called() const { return others_.lead == Lead::called; }
    /// The GPU that leads the instance has ended its turn.
    [[nodiscard]] bool dismissed() const {
        return others_.lead == Lead::held || others_.lead == Lead::leaving;
    }
    /// By how much further ahead than it is the instance is taken to be, in GPU time, so that its turn here
    /// falls into its turn on the GPU that leads. Below 0: further behind.
    [[nodiscard]] Nanos handicap(Nanos slack) const;

  private:
    GangState others_;
    Nanos waits_across_gpus_until_ = 0;
    bool waits_across_gpus_ = false;
};

}  // namespace cgpu::schedule
