#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "core/model/gpu.hpp"

namespace cgpu::app {

/// How many errors of a GPU its driver has reported since cgpud was started.
struct XidCount {
    std::uint64_t errors = 0;
    std::uint64_t last = 0;  ///< the number of the last one; 0: none yet
};

using XidCounts = std::map<model::Uuid, XidCount>;

/// What an Xid means, in a few words without a full stop, by NVIDIA's public list ("XID Errors"). Empty: it
/// is none of those that matter to users who share a GPU.
[[nodiscard]] std::string_view meaning_of_xid(std::uint64_t code);

}  // namespace cgpu::app
