#pragma once

#include <cstddef>
#include <cstdint>

namespace cgpu::module {

/// Adds up the time in which at least one of several intervals ran, in whatever order they are reported:
/// intervals of different streams end in any order and contain each other.
class BusyTime {
  public:
    /// The part of [start, end) that no earlier interval has covered. `since`: no later interval starts
    /// before it, so earlier times need not be remembered.
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
