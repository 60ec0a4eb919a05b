#include "core/schedule/parts/priority_bucket.hpp"

#include <algorithm>

namespace cgpu::schedule {

void PriorityBucket::resize(int ratio, Nanos burst) {
    const bool full = level_ >= most_;
    ratio_ = ratio;
    most_ = burst * ratio;
    level_ = full ? most_ : std::clamp(level_, -most_, most_);
}

void PriorityBucket::pass(Nanos dt) {
    // A longer time fills it from the bottom anyway: min keeps the product in range.
    level_ = std::min(most_, level_ + std::min<Nanos>(dt, 3'600 * kSecond) * ratio_);
}

void PriorityBucket::charge(Nanos used) {
    level_ = std::clamp(level_ - std::clamp<Nanos>(used, -kSecond, 3'600 * kSecond) * 100, -most_, most_);
}

Nanos PriorityBucket::time_to(Nanos wanted) const {
    const std::int64_t missing = wanted * 100 - level_;
    return missing <= 0 ? 0 : missing / ratio_ + 1;
}

}  // namespace cgpu::schedule
