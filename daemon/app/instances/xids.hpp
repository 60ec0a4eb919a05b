#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "core/model/gpu.hpp"

namespace cgpu::app {

/// How often a GPU's driver has reported an error of it since cgpud was started.
struct XidCount {
    std::uint64_t errors = 0;
    std::uint64_t last = 0;  ///< the number of the last one; 0: none yet
};

using XidCounts = std::map<model::Uuid, XidCount>;

/// What an Xid says, in a few words without a full stop, by NVIDIA's public list ("XID Errors"). Empty: not
/// one of those that matter to who shares a GPU.
[[nodiscard]] std::string_view meaning_of_xid(std::uint64_t code);

}  // namespace cgpu::app
