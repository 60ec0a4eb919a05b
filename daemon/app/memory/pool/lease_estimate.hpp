#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/wire/limits.hpp"

namespace cgpu::app {

/// The expected size of a thing on a GPU: the largest of the last few sizes that the driver showed.
class LeaseEstimate {
  public:
    static constexpr std::size_t kRemembered = 8;

    /// `largest`: no larger size is learnt, so that one unusual thing doesn't make the following ones too
    /// expensive.
    LeaseEstimate(std::uint64_t first, std::uint64_t largest)
        : first_(wire::align_up(first)), largest_(largest) {}

    void learn(std::uint64_t bytes) {
        seen_[learnt_++ % kRemembered] = std::min(wire::align_up(bytes), largest_);
    }
    /// Bytes, whole granules.
    [[nodiscard]] std::uint64_t bytes() const {
        return learnt_ == 0 ? first_ : *std::ranges::max_element(seen_);
    }

  private:
    std::uint64_t first_;
    std::uint64_t largest_;
    std::array<std::uint64_t, kRemembered> seen_{};  ///< the oldest is overwritten; 0: none yet
    std::size_t learnt_ = 0;
};

}  // namespace cgpu::app
