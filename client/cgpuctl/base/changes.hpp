#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/node/node.hpp"

/// The settings that a command line asks for, and how they are made: one way for the verbs and for a batch.
namespace cgpu::cgpuctl {

/// Of set-policy, set-max-inst and set-prio-ratio.
struct GpuSettingInput : ChangingInput {
    std::string gpu;
    std::string value;
};

/// Of drain and undrain.
struct DrainInput : ChangingInput {
    std::vector<std::string> gpus;
};

/// Of set-weight, set-memory and set-priority; of pause and resume, without a value.
struct InstanceSettingInput : ChangingInput {
    std::vector<std::string> instances;
    std::string gpu;
    std::string value;
};

/// Of revert.
struct RevertInput : ChangingInput {
    std::vector<std::string> targets;
    std::string gpu;     ///< of an instance
    bool drain = false;  ///< of the mode, as the next
    std::string timeout;
};

/// What one verb sets.
struct Wanted {
    std::vector<client::Change> changes;  ///< one for each instance or GPU that is named
    std::string figure;                   ///< for people: `weight 4`
    std::string key;                      ///< of the figure in JSON
    Json value;
    std::optional<bool> paused = std::nullopt;  ///< it only pauses (true) or resumes
};

// What each verb wants. Error (usage): a word that can't be that.
[[nodiscard]] client::Result<Wanted> wanted_policy(const GpuSettingInput& input);
[[nodiscard]] client::Result<Wanted> wanted_max_inst(const GpuSettingInput& input);
[[nodiscard]] client::Result<Wanted> wanted_prio_ratio(const GpuSettingInput& input);
[[nodiscard]] client::Result<Wanted> wanted_memory(const InstanceSettingInput& input);
[[nodiscard]] client::Result<Wanted> wanted_weight(const InstanceSettingInput& input);
[[nodiscard]] client::Result<Wanted> wanted_priority(const InstanceSettingInput& input);

[[nodiscard]] client::Result<Wanted> wanted_pause(const InstanceSettingInput& input);
[[nodiscard]] client::Result<Wanted> wanted_resume(const InstanceSettingInput& input);
[[nodiscard]] client::Result<Wanted> wanted_drain(const DrainInput& input);
[[nodiscard]] client::Result<Wanted> wanted_undrain(const DrainInput& input);

/// A change of the target `node` as one of each GPU that cgpud knows now; any other as it is. Refused: there
/// is no GPU; not_found: a word for what is drained can mean no GPU.
[[nodiscard]] client::Result<std::vector<client::Change>> for_each_gpu(const client::Change& change,
                                                                       client::Node& node);

/// Error (usage): --if-generation isn't a number.
[[nodiscard]] client::Result<client::Making> making_of(const ChangingInput& input);

/// Makes the changes, all or none, and returns how they were made. A refusal has no number of a change.
[[nodiscard]] client::Result<client::Making> make(const std::vector<client::Change>& changes,
                                                  const ChangingInput& input, client::Node& node);

}  // namespace cgpu::cgpuctl
