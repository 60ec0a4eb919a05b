#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model/node.hpp"

namespace cgpu::app {

/// Where the configuration says another mode than is in force, a sentence each for the log, with what to do:
/// a switched mode wins over the configuration, and a GPU keeps what the configuration said when it was first
/// seen.
[[nodiscard]] std::vector<std::string> mode_differences(
    const model::Node& node, model::Mode configured, std::optional<model::Mode> switched,
    const std::function<model::Mode(const model::SeenGpu&)>& configured_for);

}  // namespace cgpu::app
