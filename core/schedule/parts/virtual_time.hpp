#pragma once

#include <array>
#include <bitset>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// Start-time fair queuing: each entry has a virtual time (GPU time ÷ weight). The entry with the smallest
/// goes next, so overuse is repaid automatically.
///
/// There is one entry per slot, and one for the slices that no instance was given (kSpare). The clock is the
/// smallest virtual time of the active entries; an entry's debt is its virtual time minus the clock, as GPU
/// time. An entry without work doesn't fall behind. In a work-conserving policy it is set to the clock when
/// it returns. In the others the time of its slices is charged to it as if it had used them.
///
/// The time is a double, because GPU time ÷ weight is a fraction, and no common denominator of 1..25 leaves
/// an int64 room for a year of nanoseconds. Its error after a year is some nanoseconds, and only differences
/// count.
class VirtualTime {
  public:
    static constexpr std::size_t kSpare = kSlots;
    using Entries = std::bitset<kSlots + 1>;
    using Weights = std::array<double, kSlots + 1>;

    /// Weight 0: inactive. The debt stays the same in GPU time. The entry is never left behind the clock.
    void set_weight(std::size_t entry, double weight);
    /// The entries with work, where weights depend on that.
    struct Division {
        Weights weights{};  ///< from now on
        Entries working;
        Entries rest;       ///< those that divide what the others leave
        Entries competing;  ///< want the GPU, or hold it
        Entries late;       ///< have work, and haven't competed for a while: they don't fall behind
    };
    /// Puts these weights in force. How far an entry is ahead of the even division, or behind it, stays the
    /// same in GPU time. What all are ahead together, because one took less than it could or paid more than
    /// it took, is given to the rest, and what all are behind is taken from it: `most` GPU time at once.
    void balance(const Division& division, Nanos most);
    /// From here on nobody is ahead of the even division, but for what is owed to the clock.
    void begin_even() { even_ = clock_; }
    /// GPU time was used: the even division has come so much further.
    void flow(Nanos used);
    /// A new entry: it owes nothing and is owed nothing.
    void enter(std::size_t entry) { entries_[entry] = {clock_, 0}; }
    [[nodiscard]] double weight(std::size_t entry) const { return entries_[entry].weight; }
    /// The weight, or 1 where it is 0: GPU time ÷ divisor is virtual time.
    [[nodiscard]] double divisor(std::size_t entry) const {
        return entries_[entry].weight > 0 ? entries_[entry].weight : 1;
    }
    [[nodiscard]] double at(std::size_t entry) const { return entries_[entry].v; }
    /// How far it is ahead of the clock, in GPU time; negative: behind.
    [[nodiscard]] double debt(std::size_t entry) const {
        return (entries_[entry].v - clock_) * entries_[entry].weight;
    }

    /// A negative `used` is paid back. The debt afterwards is capped at `most_debt` of GPU time.
    void charge(std::size_t entry, Nanos used, Nanos most_debt);
    void catch_up(std::size_t entry);
    /// All active entries have come at least as far as this one.
    void advance_clock(std::size_t entry);

    /// dt passes and belongs to the slices of `idle`: the entry furthest behind first.
    void pass(Nanos dt, const Entries& idle);
    /// How long pass() needs until no entry of `idle` is behind the position of `entry` after `more` GPU
    /// time.
    [[nodiscard]] Nanos time_until_next(std::size_t entry, Nanos more, const Entries& idle) const;

  private:
    struct Entry {
        double v = 0;
        double weight = 0;
    };
    [[nodiscard]] Entries taking_part(const Entries& among) const;

    std::array<Entry, kSlots + 1> entries_;
    double clock_ = 0;
    double even_ = 0;   ///< the virtual time of an even division between the entries with work
    double whole_ = 0;  ///< their weights, as of the last balance()
};

}  // namespace cgpu::schedule
