#pragma once

#include <optional>

#include "core/schedule/competitors.hpp"
#include "core/schedule/parts/late_credit.hpp"
#include "core/schedule/parts/undrained_work.hpp"
#include "core/schedule/turn.hpp"

namespace cgpu::schedule {

/// Turns the instances' reports of their work into charges, in GPU time.
class ComputeAccounting {
  public:
    /// `trusted_error`: DrainTuning's.
    ComputeAccounting(const CostTuning& tuning, const DoubtTuning& doubts, Nanos trusted_error)
        : tuning_(tuning), doubts_(doubts), trusted_error_(trusted_error) {}

    /// dt has passed up to `now`, and these are the readings. `turn` is the turn that ran meanwhile, or null;
    /// `idle_slices`: slices of idle instances passed.
    void pass(Competitors& competitors, const Readings& readings, Nanos now, Nanos dt, Turn* turn,
              bool idle_slices);

    /// The turn is over. Its time that isn't measured yet is charged by its estimate, and work still in
    /// flight becomes undrained work.
    void settle(Competitors& competitors, Turn& turn, Nanos now);

    /// The slot gets a turn, or leaves.
    void resume(std::size_t slot) { undrained_.resume(slot); }
    void forget(std::size_t slot) {
        undrained_.forget(slot);
        late_.forget(slot);
    }
    [[nodiscard]] const UndrainedWork& undrained() const { return undrained_; }

  private:
    [[nodiscard]] static Nanos let_out_took(const Competitors& competitors, const Turn* turn,
                                            const UndrainedWork::Times& undrained, Nanos left);
    [[nodiscard]] Nanos held_up(const Competitors& competitors, const Turn* turn, Nanos now, Nanos dt,
                                Nanos charged_before) const;
    [[nodiscard]] std::optional<Nanos> claimed_late(const Slot& holder, const Turn& turn) const;
    [[nodiscard]] Nanos least_price(const Competitors& competitors, const Turn& turn, Nanos late) const;
    static Nanos worked(const Competitors& competitors, const Turn* turn, Nanos dt);
    static Nanos give_back(Competitors& competitors, Turn& turn, Nanos now);
    struct Before;
    void pass_slot(Competitors& competitors, std::size_t slot, const Before& before, Nanos now, Nanos dt,
                   Turn* turn, Nanos undrained_took, Nanos own_undrained);

    CostTuning tuning_;
    DoubtTuning doubts_;
    Nanos trusted_error_;
    UndrainedWork undrained_;
    LateCredit late_;
};

}  // namespace cgpu::schedule
