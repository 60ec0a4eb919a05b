#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {

struct ModeDifference {
    std::string text;
    log::Subject about{};  ///< the GPU, unless it is of the node
};

/// For each difference between the configured mode and the one in force, a sentence for the log, with a
/// remedy: a switched mode wins over the configuration, and a GPU keeps what was configured when it was first
/// seen.
[[nodiscard]] std::vector<ModeDifference> mode_differences(
    const model::Node& node, model::Mode configured, std::optional<model::Mode> switched,
    const std::function<model::Mode(const model::SeenGpu&)>& configured_for);

}  // namespace cgpu::app
