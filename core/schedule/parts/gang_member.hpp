#pragma once

#include "core/schedule/base/gang_state.hpp"

namespace cgpu::schedule {

/// What one GPU knows of an instance's gang: the reports of the instance's other GPUs, and whether its work
/// here was seen to wait for a launch that another GPU holds.
class GangMember {
  public:
    /// Called at the start of each step with the reports of the other GPUs, as of their last steps.
    void hear(const GangState& others, Nanos now);
    /// Work here waits for a launch that another GPU holds: the instance stays ganged until `until`.
    void note_wait_across_gpus(Nanos until);

    [[nodiscard]] const GangState& others() const { return others_; }
    /// Whether work on this GPU recently waited for another GPU.
    [[nodiscard]] bool waits_across_gpus() const { return waits_across_gpus_; }
    /// Whether work on any of the instance's GPUs did.
    [[nodiscard]] bool ganged() const { return waits_across_gpus_ || others_.waits_across_gpus; }
    /// Whether work in flight here may wait for a launch that another GPU holds.
    [[nodiscard]] bool may_wait_for_others() const { return ganged() && others_.wants; }
    /// The leading GPU gives the instance its turn now.
    [[nodiscard]] bool called() const { return others_.lead == Lead::called; }
    /// The leading GPU has ended the instance's turn.
    [[nodiscard]] bool dismissed() const {
        return others_.lead == Lead::held || others_.lead == Lead::leaving;
    }
    /// Offset added to the instance's virtual time, in GPU time, so that its turn here coincides with its
    /// turn on the leading GPU. A negative offset makes it go earlier.
    [[nodiscard]] Nanos handicap(Nanos slack) const;

  private:
    GangState others_;
    Nanos waits_across_gpus_until_ = 0;
    bool waits_across_gpus_ = false;
};

}  // namespace cgpu::schedule
