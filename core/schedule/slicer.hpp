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
/// Turns. One instance at a time holds the GPU: its gate is open, the launches of the others wait. The
/// instance with the smallest GPU time ÷ weight goes next (VirtualTime), so excess use in one turn is taken
/// from the following ones. Several open gates at once were tried and rejected: event times of overlapping
/// contexts include the slices of the others, and shares were wrong by up to 19 points.
///
/// Hand-over. When a turn ends, its gate closes and the work in flight drains. Waiting for the drain leaves
/// the GPU idle until the next holder sees its gate open. So the next gate opens 100 µs before the predicted
/// drain, if the holder's predictions are accurate (DrainTrust). Work still in flight after that is
/// UndrainedWork.
///
/// Late holders. If a holder's gate is open and its launches wait, but none of its work runs, then its
/// threads have not been woken yet: the host has no free core. The holder isn't charged for that time,
/// because it is a larger part of the short turns of a low weight than of long ones. It is believed as far as
/// the others are late, too (LateCredit). A high-priority holder is charged for it.
///
/// Time limits. Turns also end by the clock, and drains have a deadline: a kernel of the holder may wait for
/// a launch that is held at a gate. No instance waits without bound for work of another to complete.
///
/// Doubt. What an instance reports decides when its turn ends and what it is charged, but its processes can
/// write any number. So a turn costs about as much as the time for which others waited for it, whatever is
/// reported (ComputeAccounting). An instance whose reports can't be true (PageCheck, and who holds an open
/// gate for long without any work) is doubted for a while: then nobody is held during its turns, so it gets
/// no more than the driver gives it, and its turns cost their whole time.
///
/// Policies (Rules). Work-conserving: turns go to instances that want the GPU, an idle holder loses its turn
/// after a grace time, and an instance that wakes up and is behind cuts a turn short. The others: a turn
/// lasts its full time, used or not. While the slices of instances without work pass, no instance holds the
/// GPU. Under proportional, which is work-conserving, weights follow who has work (proportions()), and what
/// an instance is ahead is measured in GPU time against that division (VirtualTime::balance()).
///
/// Gangs. Kernels of one instance on two GPUs may wait for each other (collectives). If each GPU schedules
/// independently, a kernel on GPU A can spin during A's turn while its peer on GPU B is held at the gate, and
/// vice versa. An instance in which this was seen (work stuck behind a closed gate on one GPU, a launch held
/// on another) is ganged for a while. The first GPU of the instance leads. The other GPUs shift the
/// instance's virtual time, within a bound, so that its turns coincide. Turns of a gang end by the clock
/// alone: the measured time of a kernel includes the time in which it waited for its peer, and would exhaust
/// the turn's budget at once. If work is still stuck at the end of a turn, the slicer lets a single launch
/// pass on another GPU, charged like any other. The same is done on one GPU, where a kernel of one stream may
/// wait for a held kernel of another stream. Instances whose GPUs do not synchronise with each other are
/// scheduled as usual.
///
/// High priority (PriorityBucket) overrides all of this: while the bucket lasts, a high-priority turn begins
/// at once. Such turns cost their full duration, and while an ordinary holder is late the bucket doesn't
/// fill: where the host has no free core, the short turns in between would pass before their holders are
/// awake.
class Slicer {
  public:
    explicit Slicer(const Settings& settings)
        : tuning_(settings.tuning.steps),
          patience_{settings.tuning.drains, settings.tuning.stuck},
          most_sharers_(settings.tuning.turns.most_sharers),
          competitors_(settings, settings.tuning.shares),
          accounting_(settings.tuning.costs, settings.tuning.doubt, settings.tuning.drains.trusted_error),
          turns_(settings.tuning.turns, settings.tuning.drains) {}

    /// Takes effect at the next step: the running turn ends then, and debts are kept. A call with the value
    /// in force changes nothing.
    void set_policy(model::Policy policy);
    void set_max_inst(int max_inst);
    void set_prio_ratio(int percent) { competitors_.set_prio_ratio(percent); }

    /// For all of these, slot < kSlots. Joining a slot in use resets it; calls for a slot that is not joined
    /// do nothing. Weight 0: the gate stays closed under all policies but native. Weights below 0 count as
    /// 0. `ask` makes a difference under proportional.
    void join(std::size_t slot, int weight, bool high_priority, Ask ask = Ask::weight);
    void leave(std::size_t slot);
    void set_weight(std::size_t slot, int weight, Ask ask = Ask::weight);
    void set_high_priority(std::size_t slot, bool high_priority);

    /// One step. Call it at every change of a reading that matters (wants, drained, syncing) and at the
    /// decision's wake_at. Readings of slots that are not joined are ignored. If `now` goes back, time counts
    /// as standing still. A superfluous step does no harm; achieved() is as of the last one. `gangs`: the
    /// reports of the other GPUs on the slots' instances, as of their last steps.
    Decision step(Nanos now, const Readings& readings, const GangStates& gangs = {});

    [[nodiscard]] const Division& division() const { return competitors_.division(); }
    [[nodiscard]] Achieved achieved(std::size_t slot) const { return competitors_[slot].achieved; }
    /// The part 0..1 of the GPU that the policy gives the slot now (README has the table); nothing under
    /// policies 1, 4 and 6 for an instance without work. Empty under native: the driver decides.
    [[nodiscard]] std::optional<double> target_share(std::size_t slot) const {
        return competitors_.target_share(slot);
    }
    /// Its reports are doubted (Doubt), as of the last step: nobody is held during its turns.
    [[nodiscard]] bool doubted(std::size_t slot) const { return competitors_[slot].doubt.is(); }
    /// What to report to the other GPUs of the instance in this slot, as of the last step.
    [[nodiscard]] GangState tell(std::size_t slot) const;
    /// The running turn, as of the last step; empty: no instance holds the GPU. For display.
    [[nodiscard]] const std::optional<Turn>& turn() const { return turns_.current(); }
    /// By which rule the last turn ended, for display; empty: none has ended.
    [[nodiscard]] std::optional<TurnEnd> last_end() const { return turns_.last_end(); }
    /// Whose turn it is, for display.
    [[nodiscard]] std::optional<std::size_t> holder() const;

  private:
    // Work that waits for a launch that is held
    [[nodiscard]] StuckWork::Patience patience() const;
    [[nodiscard]] Nanos stuck_at(std::size_t slot) const;
    [[nodiscard]] bool in_debt(std::size_t slot) const;
    [[nodiscard]] bool frees_others(std::size_t slot) const;
    [[nodiscard]] Nanos stuck_wake_at() const;
    void look_for_stuck();

    // What the step answers
    [[nodiscard]] Decision decide();
    [[nodiscard]] GateOrder gate_outside_turn(std::size_t slot) const;
    void open_turn(GateOrders& gates) const;
    void open_beside(GateOrders& gates) const;

    StepTuning tuning_;
    StuckWork::Patience patience_;  // with work that has the GPU for itself
    Nanos most_sharers_;
    Competitors competitors_;
    ComputeAccounting accounting_;
    Turns turns_;
    bool started_ = false;
    Nanos now_ = 0;
    Nanos due_ = kForever;  // when the last step asked for the next one
};

}  // namespace cgpu::schedule
