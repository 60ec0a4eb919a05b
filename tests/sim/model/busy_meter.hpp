#pragma once

#include <algorithm>
#include <array>

#include "tests/sim/model/limits.hpp"

namespace simgpu {

/// Busy time: the total, and the part within the last second (in eighths of a second).
class BusyMeter {
  public:
    void add(Nanoseconds from, Nanoseconds to) {
        total_ += to - from;
        while (from < to) {
            const Nanoseconds end = std::min(to, (from / kBucket + 1) * kBucket);
            roll_to(from / kBucket);
            buckets_[index(from / kBucket)] += end - from;
            from = end;
        }
    }

    Nanoseconds total() const { return total_; }

    /// Busy time within the whole eighths that make up the second before `now`.
    Nanoseconds last_second(Nanoseconds now) const { return last_eighths(now, 8); }

    /// The same within the last `count` of them, at most eight.
    Nanoseconds last_eighths(Nanoseconds now, Nanoseconds count) const {
        const Nanoseconds current = now / kBucket;
        Nanoseconds sum = 0;
        for (Nanoseconds bucket = current - std::min(count, kBuckets - 1); bucket < current; ++bucket) {
            if (bucket > last_ - kBuckets && bucket <= last_) sum += buckets_[index(bucket)];
        }
        return sum;
    }

    static constexpr Nanoseconds kBucket = 125'000'000;

  private:
    static constexpr Nanoseconds kBuckets = 9;  // eight whole ones and the one being filled

    static std::size_t index(Nanoseconds bucket) { return static_cast<std::size_t>(bucket % kBuckets); }

    void roll_to(Nanoseconds bucket) {
        for (Nanoseconds b = std::max(last_ + 1, bucket - kBuckets + 1); b <= bucket; ++b)
            buckets_[index(b)] = 0;
        last_ = std::max(last_, bucket);
    }

    Nanoseconds total_;
    Nanoseconds last_;
    std::array<Nanoseconds, kBuckets> buckets_;
};

}  // namespace simgpu
