#pragma once

#include <string>
#include <vector>

#include "client/node/values/configuration.hpp"
#include "client/node/values/snapshot.hpp"

namespace cgpu::cgpuctl {

/// Conditions that need an administrator's attention, each as `what: why. Try: …`.
[[nodiscard]] std::vector<std::string> warnings_about(const client::Snapshot& snapshot);

/// The warnings about GPUs that serve another mode than the node was switched to.
[[nodiscard]] std::vector<std::string> mode_warnings(const client::Snapshot& snapshot);

/// The warnings about instances whose processes run another version of the module than the one in force,
/// though no upgrade is under way.
[[nodiscard]] std::vector<std::string> module_warnings(const client::Snapshot& snapshot);

/// The warnings about instances that can't compute on this GPU because they have no weight.
[[nodiscard]] std::vector<std::string> warnings_of_weight(const client::Snapshot& snapshot,
                                                          const client::Gpu& gpu);

/// The values of the files that aren't in force.
[[nodiscard]] std::vector<client::ConfigurationValue> differing_values(
    const std::vector<client::ConfigurationValue>& values);
/// `gpus.0.policy: FILE:1 says fixed, which is not in force. Try: cgpuctl revert 0.`
[[nodiscard]] std::string text_of_difference(const client::ConfigurationValue& value);
/// The same for the values that an administrator has written, not those of the shipped defaults.
[[nodiscard]] std::vector<std::string> difference_warnings(
    const std::vector<client::ConfigurationValue>& values);

}  // namespace cgpu::cgpuctl
