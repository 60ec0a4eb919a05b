#include "module/engine/compute/busy_time.hpp"

#include <algorithm>

namespace cgpu::module {

std::int64_t BusyTime::add(std::int64_t start, std::int64_t end, std::int64_t since) {
    forget_before(since);
    if (end <= start) return 0;
    std::int64_t bridged = 0;
    if (count_ == kMost) bridged = merge_oldest();

    std::size_t first = 0;
    while (first < count_ && covered_[first].end < start) ++first;
    std::size_t after = first;
    std::int64_t known = 0;
    Interval joined{start, end};
    for (; after < count_ && covered_[after].start <= end; ++after) {
        const Interval& each = covered_[after];
        known += std::max<std::int64_t>(0, std::min(each.end, end) - std::max(each.start, start));
        joined = {std::min(joined.start, each.start), std::max(joined.end, each.end)};
    }
    remove(first, after - first);
    std::copy_backward(covered_ + first, covered_ + count_, covered_ + count_ + 1);
    covered_[first] = joined;
    ++count_;
    return end - start - known + bridged;
}

void BusyTime::forget_before(std::int64_t since) {
    std::size_t old = 0;
    while (old < count_ && covered_[old].end < since) ++old;
    remove(0, old);
}

/// So many intervals are only kept while one runs since before the oldest: the gap between the two oldest
/// belongs to that one, and is counted here because it won't be later.
std::int64_t BusyTime::merge_oldest() {
    const std::int64_t gap = covered_[1].start - covered_[0].end;
    covered_[1].start = covered_[0].start;
    remove(0, 1);
    return gap;
}

void BusyTime::remove(std::size_t first, std::size_t count) {
    std::copy(covered_ + first + count, covered_ + count_, covered_ + first);
    count_ -= count;
}

}  // namespace cgpu::module
