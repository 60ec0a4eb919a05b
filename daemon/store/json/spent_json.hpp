#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/model/time_limit.hpp"

namespace cgpu::store {

[[nodiscard]] nlohmann::ordered_json spent_json(const model::Spent& spent);
/// The error as Fields keeps it.
[[nodiscard]] model::SpentList read_spent(const nlohmann::json& list, const std::string& place,
                                          std::string& error);

}  // namespace cgpu::store
