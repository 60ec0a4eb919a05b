#pragma once

#include "core/schedule/competitors.hpp"
#include "core/schedule/compute_accounting.hpp"
#include "core/schedule/turn.hpp"
#include "core/schedule/turn_end.hpp"

namespace cgpu::schedule {

/// Decides when a turn ends, when the GPU is handed over, and which instance is next. See Slicer.
class Turns {
  public:
    Turns(const TurnTuning& tuning, const DrainTuning& drains) : tuning_(tuning), drains_(drains) {}

    /// The running turn; empty while no instance holds the GPU.
    [[nodiscard]] const std::optional<Turn>& current() const { return turn_; }
    [[nodiscard]] Turn* running() { return turn_ ? &*turn_ : nullptr; }
    [[nodiscard]] bool holds(std::size_t slot) const { return turn_ && turn_->slot == slot; }
    /// By which rule the last turn ended whose gate was closed; empty: none was.
    [[nodiscard]] std::optional<TurnEnd> last_end() const { return last_end_; }
    /// No instance holds the GPU, because slices of idle instances pass.
    [[nodiscard]] bool idle_slices() const { return idle_slices_; }

    /// Settings have changed during the turn: the next step ends it.
    void end_soon() { end_soon_ = true; }
    /// The turn ends immediately, and nothing is charged for the work that it leaves.
    void drop() { turn_.reset(); }
    /// Other rules are in force: time that passed under the old ones used nobody's slices.
    void stop_idle_slices() { idle_slices_ = false; }
    /// The running turn restarts, with nothing charged to it.
    void begin_anew(Competitors& competitors, ComputeAccounting& accounting, Nanos now);

    void step(Competitors& competitors, ComputeAccounting& accounting, Nanos now);

    /// The next of the ordinary instances that want the GPU.
    [[nodiscard]] std::optional<std::size_t> next(const Competitors& competitors) const {
        return competitors.first_waiting(false, last_holder_);
    }
    /// The limit up to which the holder's gate lets launches pass, as GateOrder::limit.
    [[nodiscard]] Nanos limit(const Competitors& competitors) const;
    /// What this GPU, if it leads the instance in the slot, reports to the others about its turn here.
    [[nodiscard]] Lead lead(const Competitors& competitors, std::size_t slot) const;
    /// When time alone changes something about the turns.
    [[nodiscard]] Nanos wake_at(const Competitors& competitors, bool undrained, Nanos now) const;

  private:
    [[nodiscard]] bool contended(const Competitors& competitors) const;
    [[nodiscard]] Nanos consumed(const Competitors& competitors, Nanos now) const;
    [[nodiscard]] std::optional<std::size_t> urgent(const Competitors& competitors) const;
    [[nodiscard]] bool overtaken(const Competitors& competitors, Nanos now) const;
    [[nodiscard]] bool another_is_called(const Competitors& competitors) const;
    /// The first rule by which the turn ends now; null: it goes on.
    struct Moment;
    struct EndRule;
    [[nodiscard]] const EndRule* is_up(const Competitors& competitors, Nanos now) const;
    void end_by(const EndRule& rule);
    void close_gate(Competitors& competitors, int undrained, Nanos now);
    [[nodiscard]] bool may_want_more(const Competitors& competitors, Nanos now) const;
    [[nodiscard]] bool may_hand_over(const Competitors& competitors, Nanos now) const;
    void pick_next(Competitors& competitors, ComputeAccounting& accounting, Nanos now);
    void begin(Competitors& competitors, ComputeAccounting& accounting, std::size_t slot, bool priority,
               Nanos now);
    [[nodiscard]] Nanos turn_wake_at(const Competitors& competitors, bool undrained, Nanos now) const;

    TurnTuning tuning_;
    DrainTuning drains_;
    std::optional<Turn> turn_;
    std::optional<TurnEnd> last_end_;
    std::size_t last_holder_ = 0;
    std::optional<std::size_t>
        after_idle_slices_;  // is next once the slices of those without work have passed
    bool idle_slices_ = false;
    bool end_soon_ = false;
};

}  // namespace cgpu::schedule
