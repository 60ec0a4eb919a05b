#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cgpu::app {

/// The place of a process in the tree of pid namespaces (pid_namespaces(7)): one entry for each level, from
/// the daemon's own namespace down to the process's. It never changes. Empty: unknown.
struct PidPlace {
    std::vector<std::int32_t> pids;  ///< its pid on each level
    /// The namespace of each level, identified by its first process's pid in the daemon's namespace; 0:
    /// unknown. Kernel and capabilities allow an unprivileged daemon no better identification of another
    /// user's namespace.
    std::vector<std::int32_t> inits;
};

/// The pid of the process as `asker` sees it; empty if it can't see it. If one of their namespaces is unknown
/// (a process that entered it from outside has no ancestor in it), the two on the same level are taken for
/// one.
[[nodiscard]] std::optional<std::int32_t> pid_seen_from(const PidPlace& asker, const PidPlace& process);

}  // namespace cgpu::app
