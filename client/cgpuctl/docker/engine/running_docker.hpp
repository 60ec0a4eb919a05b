#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/docker/engine/docker_flags.hpp"
#include "client/cgpuctl/docker/engine/engine_process.hpp"

namespace cgpu::cgpuctl {

constexpr const char* kDockerFile = "/etc/docker/daemon.json";

/// A dockerd that runs on this machine for the user who asks.
struct RunningDocker {
    EngineProcess process;
    DockerFlags flags;
    std::string file;  ///< its configuration, as an absolute path; it needs not exist

    /// `dockerd (pid 7)`
    [[nodiscard]] std::string name() const { return "dockerd (pid " + std::to_string(process.pid) + ")"; }
};

[[nodiscard]] std::vector<RunningDocker> running_dockers(const std::string& proc = "/proc");

}  // namespace cgpu::cgpuctl
