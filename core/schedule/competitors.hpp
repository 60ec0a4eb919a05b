#pragma once

#include <array>
#include <optional>

#include "core/schedule/base/rules.hpp"
#include "core/schedule/base/settings.hpp"
#include "core/schedule/parts/priority_bucket.hpp"
#include "core/schedule/parts/virtual_time.hpp"
#include "core/schedule/slot.hpp"

namespace cgpu::schedule {

/// The instances on one GPU: the share of each, how far each is ahead of the others or behind them, and which
/// one is next.
class Competitors {
  public:
    Competitors(const Division& division, const ShareTuning& tuning);

    [[nodiscard]] const Division& division() const { return division_; }
    [[nodiscard]] const Rules& rules() const { return rules_; }

    /// True if that changes anything.
    bool set_policy(model::Policy policy);
    bool set_max_inst(int max_inst);
    bool set_prio_ratio(int percent);
    void join(std::size_t slot, Requested requested, bool high_priority, Nanos now);
    void leave(std::size_t slot);
    void set_requested(std::size_t slot, Requested requested);
    bool set_high_priority(std::size_t slot, bool high_priority);

    [[nodiscard]] Slot& operator[](std::size_t slot) { return slots_[slot]; }
    [[nodiscard]] const Slot& operator[](std::size_t slot) const { return slots_[slot]; }
    [[nodiscard]] const std::array<Slot, kSlots>& slots() const { return slots_; }

    /// Instances may have returned to work or have become idle: where shares depend on that, they are others
    /// now.
    void note_work(Nanos now);
    /// The weight as set, 1 where the policy ignores it; 0 for a slot whose gate stays closed, or that is not
    /// joined.
    [[nodiscard]] int weight(std::size_t slot) const { return weight_of(slots_[slot]); }
    [[nodiscard]] bool wants(std::size_t slot) const;
    /// How many instances without high priority have a weight.
    [[nodiscard]] int ordinary_present() const;
    /// Slices that no instance was given take turns, too.
    [[nodiscard]] bool spare_slices() const { return ordinary_.weight(VirtualTime::kSpare) > 0; }
    [[nodiscard]] bool any_woke() const;
    /// The reports of one of them can't be true.
    [[nodiscard]] bool doubted() const;
    /// The part 0..1 of the GPU that the policy gives the slot now: Slicer::target_share.
    [[nodiscard]] std::optional<double> target_share(std::size_t slot) const;
    [[nodiscard]] Nanos period() const { return division_.max_inst * tuning_.slice; }
    [[nodiscard]] Nanos turn_length(std::size_t slot) const;
    [[nodiscard]] Nanos short_pause() const { return tuning_.short_pause; }

    /// Virtual time (GPU time ÷ weight) of the instance after `ahead` more GPU time. The instance with the
    /// smallest is next.
    [[nodiscard]] double place(std::size_t slot, Nanos ahead) const;
    /// Whether it owes the maximum debt, even without the `running` time of its current turn.
    [[nodiscard]] bool in_debt(std::size_t slot, Nanos running) const;
    /// The next of the slots that want the GPU; among equals the first one after `last_holder`.
    [[nodiscard]] std::optional<std::size_t> first_waiting(bool high_priority, std::size_t last_holder) const;
    /// How long the slices of instances without work last before the slot is next.
    [[nodiscard]] Nanos idle_slices_until(std::size_t slot) const;

    /// GPU time that the slot used; a negative value is paid back.
    void charge(std::size_t slot, Nanos used);
    /// The same for time that was not used: the minimum price of a turn.
    void charge_without_use(std::size_t slot, Nanos cost);
    /// What it had and isn't charged, or less than nothing: was counted and is charged now.
    void count_use(std::size_t slot, Nanos used) { slots_[slot].achieved.used += used; }
    /// dt passes and belongs to the slices of instances without work.
    void pass_idle_slices(Nanos dt) { ordinary_.pass(dt, idle_entries()); }
    /// The slot returns to work: it has not fallen behind while it was idle.
    void catch_up(std::size_t slot) { times(slot).catch_up(slot); }
    /// Resets the slot's debt to the clock: a slot that was alone on the GPU must not be ranked behind
    /// instances that arrive later. In a work-conserving policy those that haven't competed since `since`
    /// don't fall behind either, even if work of theirs is still in flight.
    void forgive(std::size_t slot, Nanos since);
    /// A turn of this slot begins. Advances the clock to the slot's virtual time, which is the smallest among
    /// the slots that want the GPU.
    void turn_begins(std::size_t slot);
    /// From here on no slot owes anything or is owed anything.
    void begin_anew();

    [[nodiscard]] PriorityBucket& bucket() { return bucket_; }
    [[nodiscard]] const PriorityBucket& bucket() const { return bucket_; }

  private:
    [[nodiscard]] int weight_of(const Slot& slot) const;
    [[nodiscard]] VirtualTime& times(std::size_t slot);
    [[nodiscard]] const VirtualTime& times(std::size_t slot) const;
    [[nodiscard]] VirtualTime::Entries idle_entries() const;
    [[nodiscard]] Nanos handicap(std::size_t slot) const;
    [[nodiscard]] Nanos gang_debt(std::size_t slot) const;
    [[nodiscard]] Nanos most_debt(std::size_t slot) const;
    [[nodiscard]] Requests requests(bool high_priority) const;
    [[nodiscard]] double turn_slices(std::size_t slot) const;
    void divide();
    void refresh_weights();

    Division division_;
    ShareTuning tuning_;
    Rules rules_;
    std::array<Slot, kSlots> slots_;
    VirtualTime ordinary_;
    VirtualTime priority_;
    // As of the last note_work():
    Working working_, competing_, late_;
    PriorityBucket bucket_;
};

}  // namespace cgpu::schedule
