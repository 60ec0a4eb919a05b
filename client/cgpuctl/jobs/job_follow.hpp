#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

/// What the verbs that begin jobs have in common.
namespace cgpu::cgpuctl {

/// --timeout, in seconds.
[[nodiscard]] client::Result<std::optional<std::uint32_t>> read_timeout(const Input& input);

/// Waits for the end of a job that was begun and says what became of it; an error where that isn't what was
/// wanted. With --no-wait only that it was begun.
client::Result<void> follow_job(const std::string& path, const Input& input, client::Node& node,
                                Terminal& terminal);

/// Cancels whichever is under way, and waits for its end.
client::Result<void> cancel_job_under_way(client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
