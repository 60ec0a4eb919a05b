#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/upgrade/job.hpp"

namespace cgpu::store {

/// The part of state.json about upgrades.
[[nodiscard]] nlohmann::ordered_json record_json(const upgrade::Record& record);

/// Reads it back; a fault goes into `error`, as in Fields.
[[nodiscard]] upgrade::Record read_record(const nlohmann::json& document, const std::string& place,
                                          std::string& error);

}  // namespace cgpu::store
