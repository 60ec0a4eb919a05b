#pragma once

#include <cstdint>
#include <optional>

#include "core/model/bytes.hpp"
#include "core/model/uuid.hpp"

namespace cgpu::model {

/// What one instance has of one GPU.
struct Quota {
    Uuid gpu;
    Bytes memory_limit;        ///< more than zero
    std::uint32_t weight = 1;  ///< slices of the period, 0..max_inst; at 0 it cannot compute (S4)
    bool high_priority = false;
    /// 100 % of the compute was asked for (S2): nobody else is put on this GPU.
    bool exclusive = false;
    /// Per cent of the compute, 1..100, where the weight is what was asked for as a percentage: it stays so
    /// many per cent of max_inst whatever that becomes. Nothing: the weight is a number of slices.
    std::optional<std::uint32_t> percent = std::nullopt;

    friend bool operator==(const Quota&, const Quota&) = default;
};

}  // namespace cgpu::model
