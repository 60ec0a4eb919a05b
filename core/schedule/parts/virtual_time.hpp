#pragma once

#include <array>
#include <bitset>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// Who has had how much, as "GPU time ÷ weight": whoever has least goes next, so overuse is repaid by itself.
///
/// There is one entry per slot and one for the slices nobody was given (kSpare). The clock is where those who
/// take part stand; what an entry is ahead of it is its debt. An entry without work doesn't fall behind: it
/// is brought up to the clock when it returns (work-conserving), or the time its slices take is passed to it
/// as if it had used them (the others).
///
/// A double: GPU time ÷ weight is a fraction, and no common denominator of 1..25 leaves an int64 room for a
/// year of nanoseconds. Its error after a year is some nanoseconds, and only differences count.
class VirtualTime {
  public:
    static constexpr std::size_t kSpare = kSlots;
    using Entries = std::bitset<kSlots + 1>;

    /// 0: takes no part. What it owes stays the same in GPU time. Never leaves it behind the clock.
    void set_weight(std::size_t entry, int weight);
    /// A new one: owes nothing, is owed nothing.
    void enter(std::size_t entry) { entries_[entry] = {clock_, 0}; }
    [[nodiscard]] int weight(std::size_t entry) const { return entries_[entry].weight; }
    [[nodiscard]] double at(std::size_t entry) const { return entries_[entry].v; }
    /// How far it is ahead of the clock, in GPU time; below 0: behind.
    [[nodiscard]] double debt(std::size_t entry) const {
        return (entries_[entry].v - clock_) * entries_[entry].weight;
    }

    /// `used` may be negative: paid back. What it then owes is capped at `most_debt` of GPU time.
    void charge(std::size_t entry, Nanos used, Nanos most_debt);
    void catch_up(std::size_t entry);
    /// Those who take part have all come at least as far as this one.
    void advance_clock(std::size_t entry);

    /// dt goes by and belongs to the slices of `idle`: the one that is furthest behind first.
    void pass(Nanos dt, const Entries& idle);
    /// How long pass() needs until nobody of `idle` is behind where `entry` would be after `more` of GPU
    /// time.
    [[nodiscard]] Nanos time_until_next(std::size_t entry, Nanos more, const Entries& idle) const;

  private:
    struct Entry {
        double v = 0;
        int weight = 0;
    };
    [[nodiscard]] Entries taking_part(const Entries& among) const;

    std::array<Entry, kSlots + 1> entries_;
    double clock_ = 0;
};

}  // namespace cgpu::schedule
