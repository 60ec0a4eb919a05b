#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

/// Shared by the verbs that begin jobs.
namespace cgpu::cgpuctl {

/// What upgrade and set-mode share.
struct JobInput : Input {
    std::string timeout;
    bool drain = false;
    bool no_wait = false;
    bool cancel = false;
};

/// --timeout, in seconds.
[[nodiscard]] client::Result<std::optional<std::uint32_t>> read_timeout(const std::string& timeout);

/// Waits for the end of a job and prints its result; an error if the job didn't succeed. With --no-wait only
/// prints that the job has begun.
client::Result<void> follow_job(const std::string& path, const JobInput& input, client::Node& node,
                                Terminal& terminal);

/// Cancels the job under way, and waits for its end.
client::Result<void> cancel_job_under_way(client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
