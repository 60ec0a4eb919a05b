#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/node/node.hpp"

/// The settings that a command line asks for, and how they are made: one way for the verbs and for a batch.
namespace cgpu::cgpuctl {

/// What one verb sets.
struct Wanted {
    std::vector<client::Change> changes;  ///< one for each instance or GPU that is named
    std::string figure;                   ///< for people: `weight 4`
    std::string key;                      ///< of the figure in JSON
    Json value;
    std::optional<bool> paused = std::nullopt;  ///< it only pauses (true) or resumes
};

// What each verb wants. Error (usage): a word that can't be that.
[[nodiscard]] client::Result<Wanted> wanted_policy(const Input& input);
[[nodiscard]] client::Result<Wanted> wanted_max_inst(const Input& input);
[[nodiscard]] client::Result<Wanted> wanted_prio_ratio(const Input& input);
[[nodiscard]] client::Result<Wanted> wanted_memory(const Input& input);
[[nodiscard]] client::Result<Wanted> wanted_weight(const Input& input);
[[nodiscard]] client::Result<Wanted> wanted_priority(const Input& input);

[[nodiscard]] client::Result<Wanted> wanted_pause(const Input& input);
[[nodiscard]] client::Result<Wanted> wanted_resume(const Input& input);
[[nodiscard]] client::Result<Wanted> wanted_drain(const Input& input);
[[nodiscard]] client::Result<Wanted> wanted_undrain(const Input& input);

/// A change of the target `node` as one of each GPU that cgpud knows now; any other as it is. Refused: there
/// is no GPU; not_found: a word for what is drained can mean no GPU.
[[nodiscard]] client::Result<std::vector<client::Change>> for_each_gpu(const client::Change& change,
                                                                       client::Node& node);

/// Error (usage): --if-generation isn't a number.
[[nodiscard]] client::Result<client::Making> making_of(const Input& input);

/// Makes the changes, all or none, and returns how they were made. A refusal has no number of a change.
[[nodiscard]] client::Result<client::Making> make(const std::vector<client::Change>& changes,
                                                  const Input& input, client::Node& node);

}  // namespace cgpu::cgpuctl
