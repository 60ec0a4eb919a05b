#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/node/node.hpp"

/// Which instance of a reading a word on the command line means.
namespace cgpu::cgpuctl {

/// Who says the word, and what for.
struct Saying {
    std::optional<std::uint32_t> user;  ///< empty: a user of another machine, whom only its cgpud knows
    bool to_change = false;
};
[[nodiscard]] Saying said_by(const Input& input);
[[nodiscard]] Saying said_to_change(const Input& input);

/// As cgpud decides it (model::meant_by). Null: it means none, or several.
[[nodiscard]] const client::Instance* find_instance_meant(const client::Snapshot& snapshot,
                                                          const std::string& word, const Saying& saying);

/// The same of the requests that wait.
[[nodiscard]] const client::Queued* find_queued_meant(const client::Snapshot& snapshot,
                                                      const std::string& word, const Saying& saying);

/// As find_queued_meant(), if the word means no instance.
[[nodiscard]] const client::Queued* queued_alone(const client::Snapshot& snapshot, const std::string& word,
                                                 const Saying& saying);

/// As find_instance_meant(); never null. Error: as Node::find_instance(), which says what is wrong with the
/// word; not_found: it only resembles one that would be changed. Refused: it waits in the queue.
[[nodiscard]] client::Result<const client::Instance*> instance_meant(const client::Snapshot& snapshot,
                                                                     const std::string& word,
                                                                     const Saying& saying,
                                                                     client::Node& node);

}  // namespace cgpu::cgpuctl
