#pragma once

#include <string>

#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// `upgrade 3 (hot, 1.1.0 to 1.2.0)`, `switch 4 (mode, memory to none)`
[[nodiscard]] std::string title_of(const client::Job& job);

/// `upgrade 3 (hot, 1.1.0 to 1.2.0): all, 2 of 5; waits for …`
[[nodiscard]] std::string progress_text(const client::Job& job);

/// Watches a job to its end by what the bus says of it, with a line of progress on a terminal. An interrupt
/// cancels it and a second one gives up waiting. A daemon that is away for a moment is waited for.
[[nodiscard]] client::Result<client::Job> wait_for_job(const std::string& path, client::Node& node,
                                                       Terminal& terminal);

}  // namespace cgpu::cgpuctl
