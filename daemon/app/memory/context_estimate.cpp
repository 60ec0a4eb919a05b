#include "daemon/app/memory/context_estimate.hpp"

#include <algorithm>
#include <vector>

#include "daemon/app/memory/pool/lease_estimate.hpp"

namespace cgpu::app {
namespace {

/// Contexts of different programs differ by what the driver loads with them.
bool agree(std::uint64_t smallest, std::uint64_t largest) {
    return largest - smallest <= smallest / 8 + 4 * wire::kGranule;
}

}  // namespace

ContextEstimate::ContextEstimate(std::uint64_t first, std::uint64_t largest)
    : largest_(largest), bytes_(wire::align_up(std::min(first, largest))) {}

void ContextEstimate::learn(const model::InstanceId& instance, std::uint64_t bytes) {
    std::erase_if(seen_, [&](const auto& seen) { return seen.first == instance; });
    seen_.emplace_back(instance, std::min(wire::align_up(bytes), largest_));
    if (seen_.size() > kRemembered) seen_.pop_front();
    std::vector<std::uint64_t> sizes;
    for (const auto& [who, size] : seen_) sizes.push_back(size);
    std::sort(sizes.begin(), sizes.end());
    // The largest size that enough instances agree on: excess that is set aside is returned at once, too
    // little causes overuse.
    for (std::size_t last = sizes.size(); last >= kAgreeing; --last) {
        if (!agree(sizes[last - kAgreeing], sizes[last - 1])) continue;
        bytes_ = sizes[last - 1];
        agreed_ = true;
        return;
    }
}

}  // namespace cgpu::app
