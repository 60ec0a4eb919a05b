#include "daemon/app/memory/context_sizes.hpp"

#include <algorithm>

#include "core/wire/limits.hpp"

namespace cgpu::app {
namespace {

constexpr std::uint64_t kLargestContext = std::uint64_t{1} << 30;

}  // namespace

ContextSizes::ContextSizes(LeaseTable& table, std::uint64_t first)
    : table_(table), first_(wire::align_up(first)), largest_(std::max(first_, kLargestContext)) {
    for (const auto& [gpu, bytes] : table_.context_sizes())
        estimates_.try_emplace(gpu, std::min(bytes, largest_), largest_);
}

void ContextSizes::learn(const model::Uuid& gpu, const model::InstanceId& instance, std::uint64_t bytes) {
    auto& estimate = estimates_.try_emplace(gpu, first_, largest_).first->second;
    const auto before = estimate.bytes();
    estimate.learn(instance, bytes);
    if (estimate.bytes() != before) table_.set_context_size({gpu, estimate.bytes()});
}

bool ContextSizes::measured(const model::Uuid& gpu) const {
    const auto found = estimates_.find(gpu);
    if (found == estimates_.end()) return false;
    const auto bytes = found->second.bytes();
    // Of the first contexts no more than twice the estimate is learnt: they may be larger still. An estimate
    // that an earlier daemon measured is the first of its kind here.
    return bytes != 2 * first_ && (found->second.agreed() || bytes != first_);
}

bool ContextSizes::may_be_larger(const model::Uuid& gpu, std::uint64_t shown) const {
    return !measured(gpu) && (shown == 0 || shown >= 2 * first_);
}

std::uint64_t ContextSizes::estimate(const model::Uuid& gpu) const {
    const auto found = estimates_.find(gpu);
    return found == estimates_.end() ? first_ : found->second.bytes();
}

}  // namespace cgpu::app
