#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "core/wire/limits.hpp"

namespace cgpu::app {

/// The expected size of a thing on a GPU: the largest of the last few sizes that the driver showed.
class LeaseEstimate {
  public:
    static constexpr std::size_t kRemembered = 8;

    /// `largest`: no larger size is learnt, so that one unusual thing doesn't make the following ones too
    /// expensive.
    LeaseEstimate(std::uint64_t first, std::uint64_t largest) : first_(first), largest_(largest) {}

    void learn(std::uint64_t bytes) {
        seen_.push_back(std::min(wire::align_up(bytes), largest_));
        if (seen_.size() > kRemembered) seen_.pop_front();
    }
    /// Bytes, whole granules.
    [[nodiscard]] std::uint64_t bytes() const {
        return seen_.empty() ? wire::align_up(first_) : *std::max_element(seen_.begin(), seen_.end());
    }

  private:
    std::uint64_t first_;
    std::uint64_t largest_;
    std::deque<std::uint64_t> seen_;
};

}  // namespace cgpu::app
