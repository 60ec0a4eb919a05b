#pragma once

#include <optional>

#include "core/schedule/drain_trust.hpp"
#include "core/schedule/gang_state.hpp"
#include "core/schedule/meter.hpp"
#include "core/schedule/priority_bucket.hpp"
#include "core/schedule/reading.hpp"
#include "core/schedule/rules.hpp"
#include "core/schedule/settings.hpp"
#include "core/schedule/undrained_work.hpp"
#include "core/schedule/virtual_time.hpp"

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
    /// Since the slot was joined. Times in nanoseconds.
    struct Achieved {
        Nanos used = 0;    ///< GPU time charged, overlaps divided
        Nanos waited = 0;  ///< wanted and was held
        std::int64_t turns = 0;
        std::int64_t preemptions = 0;  ///< turns of it cut short by a waking or a high-priority instance
    };

    explicit Slicer(const Settings& settings);

    /// In force at the next step; a running turn ends then, and nobody's debt is forgotten. Nothing happens
    /// where it is so already.
    void set_policy(model::Policy policy);
    void set_max_inst(int max_inst);
    void set_prio_ratio(int percent);

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

    [[nodiscard]] const Settings& settings() const { return settings_; }
    [[nodiscard]] Achieved achieved(std::size_t slot) const { return slots_[slot].achieved; }
    /// The part 0..1 of the GPU that the policy gives the slot now, by the table of S4; under 1 and 4 nothing
    /// for who has no work. Empty under native: the driver decides.
    [[nodiscard]] std::optional<double> target_share(std::size_t slot) const;
    /// What the other GPUs are to hear of the instance in this slot, as of the last step.
    [[nodiscard]] GangState tell(std::size_t slot) const;
    /// Whose turn it is, for display.
    [[nodiscard]] std::optional<std::size_t> holder() const;

  private:
    struct Slot {
        bool present = false;
        bool high_priority = false;
        int weight = 0;
        bool was_busy = false;
        bool woke = false;     // came back to work and has had no turn since
        bool held = false;     // its gate was closed by the last step
        bool outside = false;  // the last step left it without a turn, or closed the gate of its turn
        Nanos idle_since = 0;
        Nanos moved_at = 0;  // its gate closed, or something of its work was done
        struct LetThrough {
            Nanos at, limit;
        };
        std::optional<LetThrough> let_through;  // a launch, because what runs behind its gate is stuck
        bool frees_itself = false;              // that helped at once, the last time
        Nanos ganged_until = 0;  // its work has waited here for a launch that was held on another GPU
        Nanos took = 0;  // GPU time of its last turn that others waited for, measured or estimated at its end
        Meter meter;
        DrainTrust trust;
        Achieved achieved;
    };
    struct Turn {
        std::size_t slot = 0;
        bool priority = false;
        bool contended = false;
        Nanos start = 0;
        Nanos base = 0;  // used + in-flight estimate at the start
        Nanos budget = 0;
        Nanos charged = 0;  // of the holder, in this turn
        Nanos busy = 0;     // time it had work
        Nanos waited = 0;   // time its launches waited
        Nanos undrained_took = 0;
        std::optional<Nanos> closed_at;
        Nanos drain_deadline = 0;
        bool cut_short = false;
        bool called = false;  // by the GPU that leads its holder, at some time in this turn
    };

    // slicer.cpp: who takes part, and what time costs whom
    [[nodiscard]] int weight_of(const Slot& slot) const;
    [[nodiscard]] bool wants(std::size_t slot) const;
    [[nodiscard]] VirtualTime& group(std::size_t slot);
    [[nodiscard]] const VirtualTime& group(std::size_t slot) const;
    [[nodiscard]] VirtualTime::Entries idle_entries() const;
    [[nodiscard]] int ordinary_present() const;
    [[nodiscard]] Nanos period() const;
    [[nodiscard]] Nanos gang_debt(std::size_t slot) const;
    [[nodiscard]] Nanos most_debt(std::size_t slot) const;
    void refresh_weights();
    void account(const Readings& readings, Nanos dt);
    void begin_anew();
    void account_slot(std::size_t slot, const Reading& reading, Nanos dt, Nanos undrained_took);
    [[nodiscard]] Nanos held_up(Nanos dt, Nanos charged_before) const;
    void charge(std::size_t slot, Nanos used);
    void charge_without_use(std::size_t slot, Nanos cost);

    // slicer_turns.cpp: when a turn ends and who is next
    [[nodiscard]] bool contended() const;
    [[nodiscard]] Nanos turn_length(std::size_t slot) const;
    [[nodiscard]] double place(std::size_t slot, Nanos ahead) const;
    [[nodiscard]] Nanos time_until(std::size_t slot) const;
    [[nodiscard]] Nanos ahead(std::size_t slot) const;
    [[nodiscard]] Nanos limit() const;
    [[nodiscard]] Nanos consumed() const;
    [[nodiscard]] bool idle_too_long() const;
    [[nodiscard]] bool overtaken() const;
    [[nodiscard]] std::optional<std::size_t> urgent() const;
    [[nodiscard]] std::optional<std::size_t> first_waiting(bool high_priority) const;
    [[nodiscard]] std::size_t furthest_behind(std::size_t slot) const;
    [[nodiscard]] bool turn_is_up();
    [[nodiscard]] bool may_hand_over() const;
    [[nodiscard]] bool trusted() const;
    void close_gate();
    [[nodiscard]] Nanos late() const;
    [[nodiscard]] int least_cost_percent() const;
    void hand_over();
    void pick_next();
    void begin_turn(std::size_t slot, bool priority);

    // slicer_gangs.cpp: one time on several GPUs
    [[nodiscard]] bool meets(std::size_t slot) const;
    [[nodiscard]] bool ganged(std::size_t slot) const;
    [[nodiscard]] bool may_wait_for_others(std::size_t slot) const;
    [[nodiscard]] Lead lead(std::size_t slot) const;
    [[nodiscard]] Nanos handicap(std::size_t slot) const;
    [[nodiscard]] bool dismissed() const;
    [[nodiscard]] bool another_is_called() const;

    // slicer_stuck.cpp: work that waits for a launch that is held
    [[nodiscard]] Nanos overdue_at(std::size_t slot, Nanos patience) const;
    [[nodiscard]] Nanos surely_stuck_at(std::size_t slot) const;
    [[nodiscard]] Nanos stuck_at(std::size_t slot) const;
    [[nodiscard]] Nanos own_stuck_at(std::size_t slot) const;
    void look_for_stuck();
    void moved(Slot& slot);
    [[nodiscard]] bool in_debt(std::size_t slot) const;
    [[nodiscard]] bool admitted(std::size_t slot) const;
    [[nodiscard]] Nanos stuck_wake_at() const;

    // slicer_gates.cpp: what the step answers
    [[nodiscard]] Decision decide();
    [[nodiscard]] Decision all_free() const;
    void open_gates(Gates& gates) const;
    [[nodiscard]] Nanos wake_at() const;
    [[nodiscard]] Nanos turn_wake_at() const;

    Settings settings_;
    Rules rules_;
    std::array<Slot, kSlots> slots_;
    GangStates gangs_{};
    VirtualTime ordinary_;
    VirtualTime priority_;
    PriorityBucket bucket_;
    UndrainedWork undrained_;
    std::optional<Turn> turn_;
    std::size_t last_holder_ = 0;
    // Who is next once the slices of those without work have passed, and whether they have been passing since
    // the last step.
    std::optional<std::size_t> waits_for_idle_;
    bool nobodys_ = false;
    bool end_turn_ = false;  // settings changed under it
    bool started_ = false;
    Nanos now_ = 0;
    Nanos due_ = kForever;  // when the last step asked for the next one
};

}  // namespace cgpu::schedule
