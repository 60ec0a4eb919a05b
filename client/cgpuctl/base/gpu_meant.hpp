#pragma once

#include <string>

#include "client/node/node.hpp"

/// Which GPU of a reading a word on the command line means.
namespace cgpu::cgpuctl {

/// By index, UUID, a prefix of it or PCI address. A lost GPU has the index that it had, unless another one
/// has it now. Null: the word is none of these, or an index that no GPU has; so it may name something else.
/// Error (not_found, refused): a text that can only be a GPU's names none, or several.
[[nodiscard]] client::Result<const client::Gpu*> find_gpu_meant(const client::Snapshot& snapshot,
                                                                const std::string& word, client::Node& node);

/// The same where only a GPU can be meant: never null. Error: as Node::find_gpu().
[[nodiscard]] client::Result<const client::Gpu*> gpu_meant(const client::Snapshot& snapshot,
                                                           const std::string& word, client::Node& node);

}  // namespace cgpu::cgpuctl
