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

    /// Weight 0: inactive. The debt stays the same in GPU time. The entry is never left behind the clock.
    void set_weight(std::size_t entry, int weight);
    /// A new entry: it owes nothing and is owed nothing.
    void enter(std::size_t entry) { entries_[entry] = {clock_, 0}; }
    [[nodiscard]] int weight(std::size_t entry) const { return entries_[entry].weight; }
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
        int weight = 0;
    };
    [[nodiscard]] Entries taking_part(const Entries& among) const;

    std::array<Entry, kSlots + 1> entries_;
    double clock_ = 0;
};

}  // namespace cgpu::schedule
