#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/ports/configuration.hpp"
#include "daemon/config/load.hpp"

namespace cgpu {

/// What is in force, from which several owners know a part.
struct InForce {
    const config::Loaded& at_start;   ///< the configuration that cgpud was started with
    const config::Loaded& last_read;  ///< the last good one
    const model::Node& node;
    std::optional<model::Mode> switched_mode;  ///< the mode that the node was switched to
    bool mode_until_reboot = false;            ///< it holds until the reboot only
};

/// Every value in the order of the shipped file: those of new GPUs, the others, those of containers by name,
/// and of each GPU that is present.
[[nodiscard]] app::ConfigurationValues configuration_values(const InForce& in_force);

/// What a reload has changed in the files without putting it in force: a line for each such value, with the
/// command that does. The mode is left out, see app::mode_differences().
[[nodiscard]] std::vector<std::string> not_put_in_force(const app::ConfigurationValues& before,
                                                        const app::ConfigurationValues& now);

}  // namespace cgpu
