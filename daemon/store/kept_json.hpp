#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/model/kept.hpp"

namespace cgpu::store {

/// Stands for an owner that isn't known: the user id that the system gives to nobody, (uid_t)-1.
constexpr std::uint32_t kNoOwner = std::numeric_limits<std::uint32_t>::max();

/// The part of state.json about what is kept for the next starts of instances: a list with an entry for each
/// device. Zero, or an empty text, stands for what isn't kept of it.
[[nodiscard]] nlohmann::ordered_json kept_json(const model::Kept& kept);

/// Reads it back; what is wrong goes into `error`, as Fields does it.
[[nodiscard]] model::Kept read_kept(const nlohmann::json& list, const std::string& place, std::string& error);

}  // namespace cgpu::store
