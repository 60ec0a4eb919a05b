#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/model/kept.hpp"

namespace cgpu::store {

/// Stands for an unknown owner: (uid_t)-1, a user id that the system gives to no user.
constexpr std::uint32_t kNoOwner = std::numeric_limits<std::uint32_t>::max();

/// The part of state.json with the settings kept for the next starts of instances: a list with an entry for
/// each device. Zero, or an empty text, stands for a setting that isn't kept.
[[nodiscard]] nlohmann::ordered_json kept_json(const model::Kept& kept);

/// Reads it back; a fault goes into `error`, as in Fields.
[[nodiscard]] model::Kept read_kept(const nlohmann::json& list, const std::string& place, std::string& error);

}  // namespace cgpu::store
