#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "daemon/app/lease_pool.hpp"

namespace cgpu::app {

/// What a context on one GPU probably takes: the largest of the last few that the driver showed. Bounded,
/// because it is learnt from one tenant and reserved for another.
class LeaseEstimate {
  public:
    static constexpr std::size_t kRemembered = 8;
    static constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;

    explicit LeaseEstimate(std::uint64_t first) : first_(first) {}

    void learn(std::uint64_t bytes) {
        seen_.push_back(std::min(up_to_granule(bytes), kLargest));
        if (seen_.size() > kRemembered) seen_.pop_front();
    }
    /// Bytes, whole granules.
    [[nodiscard]] std::uint64_t bytes() const {
        return seen_.empty() ? up_to_granule(first_) : *std::max_element(seen_.begin(), seen_.end());
    }

  private:
    std::uint64_t first_;
    std::deque<std::uint64_t> seen_;
};

}  // namespace cgpu::app
