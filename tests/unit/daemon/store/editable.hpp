#pragma once

#include <nlohmann/json.hpp>

#include "daemon/store/state_json.hpp"

namespace cgpu::store {

/// A state's JSON to be changed by hand: without the checksum.
inline nlohmann::json editable(const State& state) {
    auto document = nlohmann::json::parse(write_state(state));
    document.erase("checksum");
    return document;
}

}  // namespace cgpu::store
