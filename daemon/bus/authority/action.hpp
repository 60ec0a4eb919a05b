#pragma once

#include <string_view>
#include <vector>

#include "daemon/app/instances/node_changes.hpp"

namespace cgpu::bus {

/// What polkit must authorize a caller other than root for. org.cgpu1.policy describes each action and its
/// default.
enum class Action {
    run,              ///< to create instances, and to attach own processes to own instances
    manage_instance,  ///< to limit and release all users' instances, and attach to them; implies `run`
    manage_policy,    ///< to change how a GPU is divided
    trace,            ///< to trace what the instances on a GPU do, to fractions of a millisecond
    upgrade_module,   ///< to begin and cancel jobs: upgrades, and switches of the node's mode
};

/// The action's id in polkit.
[[nodiscard]] std::string_view id_of(Action action);

/// What a caller must be authorized for to make these changes.
[[nodiscard]] std::vector<Action> actions_for(const std::vector<app::NodeChange>& changes);

}  // namespace cgpu::bus
