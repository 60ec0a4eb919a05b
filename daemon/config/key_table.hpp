#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "daemon/config/config.hpp"
#include "daemon/config/limits/values.hpp"

namespace cgpu::config {

/// When a changed value is in force.
enum class Applies {
    on_reload,
    on_start,  ///< of cgpud
};

/// A key with one value.
struct Key {
    std::string_view name;
    std::string_view allowed;  ///< for people
    Taken (*take)(Config& config, std::string_view value);
    std::string (*show)(const Config& config);  ///< as it could be written in a file
    Applies applies = Applies::on_reload;
};

/// A key with one value, which can be set for a single GPU.
struct GpuKey {
    std::string_view name;
    std::string_view allowed;
    Taken (*take)(GpuPatch& patch, std::string_view value);
    std::string (*show)(const model::GpuSettings& settings);
};

[[nodiscard]] std::span<const Key> keys();
[[nodiscard]] std::span<const GpuKey> gpu_keys();

constexpr std::string_view kWeightAllowed = "a whole number from 1 to 25";

/// A weight in the range of kWeightAllowed.
[[nodiscard]] tl::expected<std::uint32_t, std::string> read_weight(std::string_view value);

}  // namespace cgpu::config
