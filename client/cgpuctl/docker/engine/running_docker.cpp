#include "client/cgpuctl/docker/engine/running_docker.hpp"

namespace cgpu::cgpuctl {
namespace {

/// Without privileges it reads its user's own file.
std::string default_file(const EngineProcess& process, const DockerFlags& flags) {
    if (!flags.rootless) return kDockerFile;
    const std::string config = process.variable("XDG_CONFIG_HOME");
    return (config.empty() ? process.variable("HOME") + "/.config" : config) + "/docker/daemon.json";
}

}  // namespace

std::vector<RunningDocker> running_dockers(const std::string& proc) {
    std::vector<RunningDocker> all;
    for (EngineProcess& process : engine_processes("dockerd", proc)) {
        RunningDocker docker{std::move(process), {}, {}};
        docker.flags = docker_flags(docker.process.words);
        if (docker.process.own_users && !docker.flags.rootless) continue;
        docker.file = docker.process.absolute(docker.flags.config_file.empty()
                                                  ? default_file(docker.process, docker.flags)
                                                  : docker.flags.config_file);
        all.push_back(std::move(docker));
    }
    return all;
}

}  // namespace cgpu::cgpuctl
