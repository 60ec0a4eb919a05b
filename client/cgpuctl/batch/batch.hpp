#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/node/node.hpp"
#include "client/node/values/change.hpp"
#include "client/node/values/client_error.hpp"

/// Several commands that are carried out as one.
namespace cgpu::cgpuctl {

struct Batch {
    std::vector<client::Change> changes;
    std::vector<std::size_t> lines;  ///< the line of each change, from 1
};

/// Reads a command a line: the words of cgpuctl set-policy, set-max-inst, set-prio-ratio, drain, undrain,
/// set-memory, set-weight, set-priority, pause, resume or revert, without `cgpuctl`, and of options only
/// --gpu. A word with blanks stands in double quotes; `#` begins a comment. Error (usage): `NAME:LINE: what:
/// why. Try: …`.
[[nodiscard]] client::Result<Batch> read_batch(std::string_view text, const std::string& name);

/// With a change for each GPU in the place of `drain node`.
[[nodiscard]] client::Result<Batch> naming_every_gpu(const Batch& batch, const std::string& name,
                                                     client::Node& node);

/// cgpud names a change by its number; the user knows its line.
[[nodiscard]] client::ClientError name_line(client::ClientError error, const Batch& batch,
                                            const std::string& name);

}  // namespace cgpu::cgpuctl
