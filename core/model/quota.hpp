#pragma once

#include <cstdint>
#include <optional>

#include "core/model/bytes.hpp"
#include "core/model/uuid.hpp"

namespace cgpu::model {

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

    friend bool operator==(const Quota&, const Quota&) = default;
};

}  // namespace cgpu::model
