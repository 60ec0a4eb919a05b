#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "core/model/instance_id.hpp"

namespace cgpu::app {

/// The expected size of a context on a GPU, for instances without a measured context of their own. It changes
/// only when three instances agree: one instance's processes can make the driver show any size for their
/// contexts, and the amount set aside for a context decides whether another instance's jobs can start.
class ContextEstimate {
  public:
    static constexpr std::size_t kAgreeing = 3;
    static constexpr std::size_t kRemembered = 16;  ///< instances

    /// Bytes: the value until instances agree, and the largest size that is accepted.
    ContextEstimate(std::uint64_t first, std::uint64_t largest);

    /// The driver showed this many bytes for a context of this instance; the last figure counts.
    void learn(const model::InstanceId& instance, std::uint64_t bytes);
    /// Whether instances have agreed.
    [[nodiscard]] bool agreed() const { return agreed_; }
    /// Whole granules.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  private:
    std::uint64_t largest_;
    std::uint64_t bytes_;
    bool agreed_ = false;
    std::deque<std::pair<model::InstanceId, std::uint64_t>> seen_;
};

}  // namespace cgpu::app
