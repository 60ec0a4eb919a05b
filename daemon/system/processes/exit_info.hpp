#pragma once

/// How a process ended that isn't a child of this one.
namespace cgpu::system {

/// By a pidfd that was opened while the process was there: whether a signal has killed it. False also if the
/// kernel doesn't say: it does from Linux 6.15 on, and once the parent has waited for the process.
[[nodiscard]] bool was_killed(int pidfd);

}  // namespace cgpu::system
