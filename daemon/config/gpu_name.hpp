#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <tl/expected.hpp>

#include "core/model/uuid.hpp"

namespace cgpu::config {

/// A name below `gpus`: an index, or a UUID.
using GpuName = std::variant<std::uint32_t, model::Uuid>;

/// Each GPU's index has one spelling, without leading zeros. Error: why it is no name.
[[nodiscard]] tl::expected<GpuName, std::string> parse_gpu_name(std::string_view text);

}  // namespace cgpu::config
