#pragma once

#include <cstdint>
#include <optional>

#include "core/model/bytes.hpp"
#include "core/model/uuid.hpp"

namespace cgpu::model {

/// What an instance was admitted with on a GPU.
struct Admitted {
    Bytes memory_limit;
    std::uint32_t weight = 1;  ///< without meaning if there is a percentage
    bool high_priority = false;
    bool exclusive = false;
    std::optional<std::uint32_t> percent = std::nullopt;

    friend bool operator==(const Admitted&, const Admitted&) = default;
};

/// What one instance may use of one GPU.
struct Quota {
    Uuid gpu;
    Bytes memory_limit;        ///< more than zero
    std::uint32_t weight = 1;  ///< slices of the period, 0..max_inst; at 0 it cannot compute
    bool high_priority = false;
    /// 100 % of the compute was requested: this GPU takes no other instance.
    bool exclusive = false;
    /// Percentage of the compute, 1..100, if the weight was requested as one: it stays that percentage of
    /// max_inst whatever that becomes. Empty: the weight is a fixed number of slices.
    std::optional<std::uint32_t> percent = std::nullopt;
    /// It keeps its memory and its weight, and computes nothing until it is resumed, except where the driver
    /// divides the GPU (policy native).
    bool paused = false;
    /// What it was admitted with, if something else was set since; empty: the figures above.
    std::optional<Admitted> admitted = std::nullopt;

    friend bool operator==(const Quota&, const Quota&) = default;
};

/// Whether the figures are those that it was admitted with: trivially so if `admitted` is empty. A percentage
/// is the same one whatever number of slices it is now.
[[nodiscard]] inline bool is_as_admitted(const Quota& quota) {
    if (!quota.admitted) return true;
    const Admitted& then = *quota.admitted;
    return quota.memory_limit == then.memory_limit && quota.high_priority == then.high_priority &&
           quota.exclusive == then.exclusive && quota.percent == then.percent &&
           (quota.percent || quota.weight == then.weight);
}

}  // namespace cgpu::model
