#pragma once

#include <string>
#include <string_view>

#include "client/node/values/snapshot.hpp"

/// Whose container or unit a process is in, by its cgroup and its parent.
namespace cgpu::cgpuctl {

enum class Engine {
    none,  ///< no container's cgroup
    docker,
    podman,
    cri,  ///< of Kubernetes or another that talks CRI
};

/// By the text of a /proc/PID/cgroup: what engines call the cgroup of a container with this id.
[[nodiscard]] Engine engine_in(std::string_view cgroups, std::string_view id);

/// By the command line of the parent of a container's first process (/proc/PID/cmdline): the monitor of its
/// engine, which names the container.
[[nodiscard]] Engine engine_of_monitor(std::string_view command_line, std::string_view id);

/// Of the instance's first process on this machine; none, too, where that isn't known.
[[nodiscard]] Engine engine_of(const client::Instance& instance);

/// Whether the instance is a container, as far as it can be known.
[[nodiscard]] bool is_container(const client::Instance& instance);

/// What the engine's user types to do something with it: `docker stop web`. Where the engine isn't known:
/// `docker stop web, or podman stop web`.
[[nodiscard]] std::string engine_command(std::string_view word, const client::Instance& instance);

/// The command that shows the journal of the service in whose cgroup a process is: `journalctl -u
/// web.service`. Empty: it is in none.
[[nodiscard]] std::string journal_of(std::string_view cgroups);

/// The text of /proc/PID/cgroup; empty: it can't be read.
[[nodiscard]] std::string cgroups_of(std::uint32_t pid);

}  // namespace cgpu::cgpuctl
