#include "daemon/app/memory/kept_exports.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/wire/limits.hpp"
#include "daemon/app/memory/pool/lease_pool.hpp"

namespace cgpu::app {
namespace {

/// What the driver shows of its processes together. It shows a process once for each list (compute,
/// graphics), with the same figure. Empty: a figure is none.
std::optional<std::uint64_t> sum_of(const std::vector<DriverProcess>& processes) {
    std::map<std::int32_t, std::uint64_t> by_pid;
    for (const auto& process : processes) {
        if (process.bytes > kLargestAsk) return std::nullopt;
        auto& bytes = by_pid[process.pid];
        bytes = std::max(bytes, process.bytes);
    }
    std::uint64_t sum = 0;
    for (const auto& [pid, bytes] : by_pid) sum += bytes;
    return sum;
}

}  // namespace

void KeptExports::freed(const PoolKey& pool, std::uint64_t bytes, bool looked, Nanos now) {
    if (bytes == 0) return;
    Entry& entry = entries_[pool];
    auto& sum = looked ? entry.unsure : entry.fresh;
    sum = std::min(sum + std::min(bytes, kLargestAsk), kLargestAsk);
    entry.since = now;
}

void KeptExports::take_up(const PoolKey& pool, std::uint64_t bytes) {
    if (bytes > 0) entries_[pool].settled = std::min(bytes, kLargestAsk);
}

void KeptExports::forget(const PoolKey& pool) {
    const auto found = entries_.find(pool);
    if (found == entries_.end()) return;
    nobodys_ += found->second.settled;
    entries_.erase(found);
}

void KeptExports::look_begins() {
    for (auto& [pool, entry] : entries_)
        entry.unsure = std::min(entry.unsure + std::exchange(entry.fresh, 0), kLargestAsk);
}

void KeptExports::driver_failed() {
    for (auto& [pool, entry] : entries_) entry.unsure = entry.fresh = 0;
}

KeptExports::Kept KeptExports::of(const PoolKey& pool) const {
    const auto found = entries_.find(pool);
    if (found == entries_.end()) return {};
    const Entry& entry = found->second;
    const auto unsure = entry.unsure + entry.fresh;
    return {wire::align_up(entry.settled) + unsure, unsure};
}

bool KeptExports::any_unsure() const {
    return std::ranges::any_of(entries_,
                               [](const auto& item) { return item.second.unsure + item.second.fresh > 0; });
}

std::uint64_t KeptExports::settled() const {
    std::uint64_t sum = nobodys_;
    for (const auto& [pool, entry] : entries_) sum += entry.settled;
    return sum;
}

void KeptExports::seen(const DriverFigures& figures, Nanos now) {
    if (!figures.used_before || !figures.used_after) return driver_failed();
    // Something was allocated or freed meanwhile: the two figures are of different moments.
    if (figures.used_before != figures.used_after || *figures.used_before > kLargestAsk) return;
    const auto shown = sum_of(figures.processes);
    if (!shown) return driver_failed();
    const auto unattributed = static_cast<std::int64_t>(*figures.used_before - *shown);
    if (settled() == 0 && !any_unsure()) return learn_base(unattributed, now);
    const auto counted = static_cast<std::int64_t>(settled());
    if (!base_) base_ = unattributed - counted;
    const auto excess = unattributed - *base_ - counted;
    if (excess < 0) sink(static_cast<std::uint64_t>(-excess));
    judge_unsure(excess > 0 ? wire::align_up(static_cast<std::uint64_t>(excess)) : 0, now);
    std::erase_if(entries_, [](const auto& item) {
        return item.second.settled + item.second.unsure + item.second.fresh == 0;
    });
}

/// The smallest figure of the last times: memory of a process that is ending may be unattributed for a
/// moment. While something is counted, the base stays: else what descriptors keep could be taken for it.
void KeptExports::learn_base(std::int64_t unattributed, Nanos now) {
    if (!base_ || now - least_from_ >= kBaseFrom) {
        least_before_ = base_ ? std::optional(least_) : std::nullopt;
        least_ = unattributed;
        least_from_ = now;
    }
    least_ = std::min(least_, unattributed);
    base_ = std::min(least_, least_before_.value_or(least_));
}

/// It isn't known whose memory is free now. What is nobody's is the first, then the smallest: who has much is
/// more likely to keep it on purpose.
void KeptExports::sink(std::uint64_t bytes) {
    const auto take = [&bytes](std::uint64_t& from) {
        const auto taken = std::min(from, bytes);
        from -= taken;
        bytes -= taken;
    };
    take(nobodys_);
    std::vector<Entry*> smallest_first;
    for (auto& [pool, entry] : entries_) smallest_first.push_back(&entry);
    std::ranges::stable_sort(smallest_first, {}, [](const Entry* entry) { return entry->settled; });
    for (Entry* entry : smallest_first) take(entry->settled);
}

void KeptExports::judge_unsure(std::uint64_t excess, Nanos now) {
    for (auto& [pool, entry] : entries_) {
        entry.unsure = std::min(entry.unsure, excess);
        if (now - entry.since >= kPatience) entry.settled += std::exchange(entry.unsure, 0);
    }
}

}  // namespace cgpu::app
