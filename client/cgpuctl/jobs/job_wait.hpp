#pragma once

#include <string>

#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// `upgrade 3 (hot, 1.1.0 to 1.2.0)`, `switch 4 (mode, memory to none)`
[[nodiscard]] std::string title_of(const client::Job& job);

/// `upgrade 3 (hot, 1.1.0 to 1.2.0): all, 2 of 5; waits for …`
[[nodiscard]] std::string progress_text(const client::Job& job);

/// Follows a job to its end by the signals of the bus, with a line of progress on a terminal. An interrupt
/// cancels the job; a second one stops waiting. A daemon that is temporarily away is waited for.
[[nodiscard]] client::Result<client::Job> wait_for_job(const std::string& path, client::Node& node,
                                                       Terminal& terminal);

}  // namespace cgpu::cgpuctl
