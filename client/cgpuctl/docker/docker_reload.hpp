#pragma once

#include <string>

#include "client/cgpuctl/docker/docker_config.hpp"

namespace cgpu::cgpuctl {

enum class Reload {
    done,         ///< dockerd has been told
    not_running,  ///< there is none: it reads the file when it starts
};

/// Sends SIGHUP to the dockerd whose pid file the configuration (or Docker's default) names. Error (failed):
/// it runs and can't be signalled.
[[nodiscard]] client::Result<Reload> reload_docker(const DockerConfig& config);

}  // namespace cgpu::cgpuctl
