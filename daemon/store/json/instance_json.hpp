#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/model/instance.hpp"

namespace cgpu::store {

/// An instance in state.json.
[[nodiscard]] nlohmann::ordered_json instance_json(const model::Instance& instance);

/// Reads it back; a fault goes into `error`, as in Fields. Empty: it has no valid id.
[[nodiscard]] std::optional<model::Instance> read_instance(const nlohmann::json& document,
                                                           const std::string& place, std::string& error);

}  // namespace cgpu::store
