#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cgpuctl/docker/engine/running_docker.hpp"
#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

/// Docker's configuration, and who reads it.
struct DockerFile {
    std::string file;
    std::optional<RunningDocker> docker;  ///< none: no dockerd that runs
};

/// The file `named`; if that is empty, the one that the running dockerd reads, or else Docker's own place for
/// it. Error (refused): several dockerds run, and none of them reads that one. `verb`: who asks, for
/// messages.
[[nodiscard]] client::Result<DockerFile> find_docker_file(const std::string& verb, const std::string& named,
                                                          const std::vector<RunningDocker>& dockers);
[[nodiscard]] client::Result<DockerFile> find_docker_file(const std::string& verb, const std::string& named);

}  // namespace cgpu::cgpuctl
