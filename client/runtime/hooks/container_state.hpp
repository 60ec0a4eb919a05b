#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>

namespace cgpu::runtime {

/// The state of a container that a runtime passes to hooks on stdin (OCI runtime specification, "State").
struct ContainerState {
    std::string id;
    std::string bundle;     ///< the folder of its config.json
    std::uint32_t pid = 0;  ///< of its first process; 0: the state has none
};

/// Null: it has not id and bundle.
[[nodiscard]] std::optional<ContainerState> read_container_state(std::istream& input);

}  // namespace cgpu::runtime
