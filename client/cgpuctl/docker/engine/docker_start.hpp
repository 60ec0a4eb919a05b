#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/cgpuctl/docker/engine/running_docker.hpp"

namespace cgpu::cgpuctl {

/// How a dockerd is started, running or not.
struct DockerStart {
    std::string name;   ///< for messages: `dockerd (pid 7)`, `docker.service`
    std::string where;  ///< its flags can be changed
    DockerFlags flags;
};

/// The flags in what `systemctl show docker.service --property ExecStart,Environment,EnvironmentFiles` says.
/// `read`: returns the text of a file; empty: there is none. Variables that are words of their own
/// (`$OPTIONS`) are divided at blanks, as systemd does it.
[[nodiscard]] DockerFlags flags_of_unit(std::string_view shown, std::string (*read)(const std::string& file));

/// Docker's service on a machine with systemd; none: there is no such unit.
[[nodiscard]] std::optional<DockerStart> docker_service();

}  // namespace cgpu::cgpuctl
