#pragma once

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// Limits all high-priority instances of a GPU together to prio_ratio % of it: a bucket of GPU time that
/// fills at that rate and is emptied by their use. It may go below zero by as much as it holds, because a
/// kernel can't be interrupted; that debt is repaid by waiting. Exact integers: the internal unit is a
/// hundredth of a nanosecond.
class PriorityBucket {
  public:
    /// ratio in percent, burst in nanoseconds of wall time. A full bucket stays full.
    void resize(int ratio, Nanos burst);
    void pass(Nanos dt);
    void charge(Nanos used);
    [[nodiscard]] Nanos level() const { return level_ / 100; }
    /// How long an instance that uses the whole GPU can continue until the bucket is empty.
    [[nodiscard]] Nanos lasts() const { return level_ <= 0 ? 0 : level_ / (100 - ratio_); }
    /// How long until the level is `wanted`; 0 if it is.
    [[nodiscard]] Nanos time_to(Nanos wanted) const;

  private:
    int ratio_ = 50;
    std::int64_t most_ = 0;
    std::int64_t level_ = 0;
};

}  // namespace cgpu::schedule
