#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cgpu::app {

/// Where a process stands in the tree of pid namespaces (pid_namespaces(7)): an entry a level, from the
/// daemon's own namespace down to the process's. Never changes in its life. Empty: not known.
struct PidPlace {
    std::vector<std::int32_t> pids;  ///< what it is called on each level
    /// The namespace of each level by its first process, as the daemon calls that; 0: not known. Kernel and
    /// capabilities allow an unprivileged daemon no better name for another user's namespace.
    std::vector<std::int32_t> inits;
};

/// What `asker` calls the process; nothing where it can't see it. Where the namespace of one of them is not
/// known (who entered it from outside has no ancestor in it), the two on the same level are taken for one.
[[nodiscard]] std::optional<std::int32_t> pid_seen_from(const PidPlace& asker, const PidPlace& process);

}  // namespace cgpu::app
