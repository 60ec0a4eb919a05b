#pragma once

#include <algorithm>
#include <cstdint>

namespace cgpu::app {

/// The most memory that an instance used of a GPU, from moments at which that was looked at; bytes.
///
/// What is set aside for contexts and code by an estimate is no use that anybody could see later. So while
/// some is, the most of the charges is kept, and what is beside them is added when the driver has shown it.
class MemoryPeak {
  public:
    /// `known`: the driver has shown all of `beside`, or will never.
    void note(std::uint64_t charged, std::uint64_t beside, bool known) {
        charged_ = std::max(charged_, charged);
        if (!known) return;
        bytes_ = std::max(bytes_, charged_ + beside);
        latest_ = std::max(latest_, charged_ + beside);
        charged_ = 0;
    }

    /// Since the beginning.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Since the last call of this.
    [[nodiscard]] std::uint64_t take_latest() {
        const auto latest = latest_;
        latest_ = 0;
        return latest;
    }

  private:
    std::uint64_t charged_ = 0;  ///< the most, since everything beside the charges was known last
    std::uint64_t bytes_ = 0;
    std::uint64_t latest_ = 0;
};

}  // namespace cgpu::app
