#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "core/model/instance_id.hpp"

namespace cgpu::app {

/// What a context probably takes of a GPU, for instances that have not shown it themselves. It moves only
/// where three instances agree: one instance's processes can make the driver show any size for their
/// contexts, and what is set aside for a context decides whether another instance's jobs can start.
class ContextEstimate {
  public:
    static constexpr std::size_t kAgreeing = 3;
    static constexpr std::size_t kRemembered = 16;  ///< instances

    /// Bytes: what is said until they agree, and the largest that is believed.
    ContextEstimate(std::uint64_t first, std::uint64_t largest);

    /// The driver showed so many bytes for a context of this instance; its last word counts.
    void learn(const model::InstanceId& instance, std::uint64_t bytes);
    /// Whole granules.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  private:
    std::uint64_t largest_;
    std::uint64_t bytes_;
    std::deque<std::pair<model::InstanceId, std::uint64_t>> seen_;
};

}  // namespace cgpu::app
