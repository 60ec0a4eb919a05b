#pragma once

#include <cstddef>
#include <cstdint>

namespace cgpu::module {

/// Adds up the time in which at least one of several intervals ran, whatever the order in which they are
/// told: intervals of different streams end in any order and lie within each other.
class BusyTime {
  public:
    /// How much of [start, end) no earlier interval has covered. `since`: no interval told later starts
    /// before it, so what lies further back need not be remembered.
    std::int64_t add(std::int64_t start, std::int64_t end, std::int64_t since);

    /// For a handover: oldest first.
    struct Interval {
        std::int64_t start;
        std::int64_t end;
    };
    template <class Visit>  // void(Interval&)
    void each(Visit visit) {
        for (std::size_t i = 0; i < count_; ++i) visit(covered_[i]);
    }
    void adopt(const Interval& covered) {
        if (count_ < kMost) covered_[count_++] = covered;
    }

  private:
    static constexpr std::size_t kMost = 16;

    void forget_before(std::int64_t since);
    std::int64_t merge_oldest();
    void remove(std::size_t first, std::size_t count);

    Interval covered_[kMost] = {};  // disjoint, oldest first
    std::size_t count_ = 0;
};

}  // namespace cgpu::module
