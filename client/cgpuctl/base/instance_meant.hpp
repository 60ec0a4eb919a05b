#pragma once

#include <string>

#include "client/node/node.hpp"

/// Which instance of a reading a word on the command line means.
namespace cgpu::cgpuctl {

/// As cgpud decides it (model::meant_by). Null: it means none, or several.
[[nodiscard]] const client::Instance* find_instance_meant(const client::Snapshot& snapshot,
                                                          const std::string& word);

/// The same; never null. Error: as Node::find_instance(), which says what is wrong with the word.
[[nodiscard]] client::Result<const client::Instance*> instance_meant(const client::Snapshot& snapshot,
                                                                     const std::string& word,
                                                                     client::Node& node);

}  // namespace cgpu::cgpuctl
