#pragma once

#include <optional>

#include "core/schedule/base/gang_state.hpp"
#include "core/schedule/base/reading.hpp"
#include "core/schedule/base/settings.hpp"
#include "core/schedule/competitors.hpp"
#include "core/schedule/compute_accounting.hpp"
#include "core/schedule/turns.hpp"

namespace cgpu::schedule {

/// Divides one GPU's compute between the instances on it: readings in, gates out. No clock, no thread, no
/// I/O.
///
/// Turns. One instance at a time holds the GPU: its gate is open, the others' launches wait. Whoever has had
/// least GPU time ÷ weight goes next (VirtualTime), so what one turn takes too much is missing from the
/// following ones. Several gates open at once were tried and rejected: what events measure of overlapping
/// contexts includes the others' slices, and shares came out up to 19 points off.
///
/// Hand-over. A turn that is up closes its gate; what is in flight drains. Waiting for that leaves the GPU
/// idle until the next gate is seen open, so the gate opens 100 µs before the predicted drain, for those
/// whose predictions are good (DrainTrust). What is still in flight then is UndrainedWork.
///
/// Late holders. A holder whose launches wait while nothing of it runs, its gate open, hasn't been woken yet:
/// its host has no free core. It isn't charged for that time, or turns of low weight, the short ones, would
/// lose a larger part of theirs than long ones. One with high priority is charged for it.
///
/// By time. Turns end by the clock too and drains have a deadline: a kernel of the holder may be waiting for
/// one that is held at a gate. Nobody waits for ever for another's completion.
///
/// Policies (Rules). Work-conserving: turns go to who wants, an idle holder is out after a grace, a waking
/// one that is behind cuts a turn short. The others: a turn lasts its time, used or not, and while the slices
/// of those who want nothing pass, nobody holds the GPU.
///
/// Gangs. Kernels of one instance on two GPUs may wait for each other (collectives). Where each GPU gives
/// turns as it likes, one spins in its turn for one that is held, and in the other's turn it is the other way
/// round. Whoever is seen doing that (work stuck behind a closed gate here, a launch held there) is ganged
/// for a while: the first of its GPUs leads, the others take it for further ahead or behind than it is, so
/// that their turns fall into its turn there, within a bound. Such turns end by the clock alone: a kernel
/// that had to wait was measured with that, and would fill the turn's budget at once. What is still caught at
/// a turn's end is freed by letting a single launch through on another GPU, charged like any other; on one
/// GPU, too, where a kernel of one stream may wait for one of another stream that is held. Who keeps its GPUs
/// apart isn't touched.
///
/// High priority (PriorityBucket) is outside of all that: while the bucket lasts, its turn begins at once.
/// Its turns cost what they last, and while an ordinary holder is late the bucket doesn't fill: where the
/// host has no free core, the short turns in between would pass before their holders are awake.
class Slicer {
  public:
    explicit Slicer(const Settings& settings)
        : tuning_(settings.tuning.steps),
          patience_{settings.tuning.drains, settings.tuning.stuck},
          competitors_(settings, settings.tuning.shares),
          accounting_(settings.tuning.costs, settings.tuning.drains.trusted_error),
          turns_(settings.tuning.turns, settings.tuning.drains) {}

    /// In force at the next step; a running turn ends then, and nobody's debt is forgotten. Nothing happens
    /// where it is so already.
    void set_policy(model::Policy policy);
    void set_max_inst(int max_inst);
    void set_prio_ratio(int percent) { competitors_.set_prio_ratio(percent); }

    /// slot < kSlots for all of these. Joining a slot that is taken starts it afresh; the calls for a slot
    /// that is not joined do nothing. Weight 0: held for ever under 0..4. Weights below 0 count as 0.
    void join(std::size_t slot, int weight, bool high_priority);
    void leave(std::size_t slot);
    void set_weight(std::size_t slot, int weight);
    void set_high_priority(std::size_t slot, bool high_priority);

    /// One step: at every change of a reading that matters (wants, drained, syncing) and at the answer's
    /// wake_at. Readings of slots that are not joined are ignored. `now` going back counts as standing still.
    /// A step more than needed does no harm; achieved() is as of the last one.
    /// `gangs`: how the slots' instances fare on other GPUs, as of those ones' last steps.
    Decision step(Nanos now, const Readings& readings, const GangStates& gangs = {});

    [[nodiscard]] const Division& division() const { return competitors_.division(); }
    [[nodiscard]] Achieved achieved(std::size_t slot) const { return competitors_[slot].achieved; }
    /// The part 0..1 of the GPU that the policy gives the slot now, by the table of S4; under 1 and 4 nothing
    /// for who has no work. Empty under native: the driver decides.
    [[nodiscard]] std::optional<double> target_share(std::size_t slot) const {
        return competitors_.target_share(slot);
    }
    /// What the other GPUs are to hear of the instance in this slot, as of the last step.
    [[nodiscard]] GangState tell(std::size_t slot) const;
    /// Whose turn it is, for display.
    [[nodiscard]] std::optional<std::size_t> holder() const;

  private:
    // Work that waits for a launch that is held
    [[nodiscard]] Nanos stuck_at(std::size_t slot) const;
    [[nodiscard]] bool in_debt(std::size_t slot) const;
    [[nodiscard]] bool frees_others(std::size_t slot) const;
    [[nodiscard]] Nanos stuck_wake_at() const;
    void look_for_stuck();

    // What the step answers
    [[nodiscard]] Decision decide();
    [[nodiscard]] GateOrder gate_outside_turn(std::size_t slot) const;
    void open_turn(GateOrders& gates) const;

    StepTuning tuning_;
    StuckWork::Patience patience_;
    Competitors competitors_;
    ComputeAccounting accounting_;
    Turns turns_;
    bool started_ = false;
    Nanos now_ = 0;
    Nanos due_ = kForever;  // when the last step asked for the next one
};

}  // namespace cgpu::schedule
