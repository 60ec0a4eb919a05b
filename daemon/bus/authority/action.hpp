#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/node.hpp"
#include "core/request/profile.hpp"
#include "core/request/request.hpp"
#include "daemon/app/instances/node_changes.hpp"

namespace cgpu::bus {

/// What polkit must authorize a caller other than root for. org.cgpu1.policy describes each action and its
/// default.
enum class Action {
    run,              ///< to create instances of normal priority, and to attach own processes to own ones
    manage_own,       ///< to lower what one's own instances have, and to pause, resume and stop them
    manage_instance,  ///< to limit and release all users' instances, give priority, and attach; implies both
    manage_policy,    ///< to change how a GPU is divided
    trace,            ///< to trace what the instances on a GPU do, to fractions of a millisecond
    upgrade_module,  ///< to begin and cancel jobs: upgrades, and switches of the node's mode; to use a weaker
                     ///< mode
};

/// The action's id in polkit.
[[nodiscard]] std::string_view id_of(Action action);

/// What a caller must be authorized for to make these changes: manage_own for those of the caller's own
/// instances only, if they lower what these have, and for a word that means no instance or several.
[[nodiscard]] std::vector<Action> actions_for(const std::vector<app::NodeChange>& changes,
                                              const model::Node& node, std::uint32_t caller);
/// Makes options of changes that were authorized by these actions: a right to one's own changes nothing else,
/// also if the node has changed since.
[[nodiscard]] app::Options as_authorized(app::Options options, const std::vector<Action>& actions,
                                         const app::Who& who);

/// What a caller must be authorized for to create an instance that requests this, beside or instead of `run`:
/// for high priority the same as for setting it later, for a weaker mode than the configured one the same as
/// for switching the mode. `run` if the variables are no valid request, which is then refused as such.
/// `switched`: the mode that the node was switched to. `profiles`: one that asks for high priority is no way
/// around the right to it.
[[nodiscard]] std::vector<Action> actions_for(const request::Variables& variables, const model::Node& node,
                                              std::optional<model::Mode> switched,
                                              const request::Profiles& profiles);

}  // namespace cgpu::bus
