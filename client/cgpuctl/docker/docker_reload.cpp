#include "client/cgpuctl/docker/docker_reload.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

namespace cgpu::cgpuctl {
namespace {

constexpr const char* kPidFile = "/var/run/docker.pid";

/// A pid file may outlive its process, and the pid may be used again.
bool is_dockerd(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    return std::getline(file, name) && name == "dockerd";
}

}  // namespace

client::Result<Reload> reload_docker(const DockerConfig& config) {
    const auto named = config.values.find("pidfile");
    std::ifstream file(named != config.values.end() && named->is_string() ? named->get<std::string>()
                                                                          : kPidFile);
    pid_t pid = 0;
    if (!(file >> pid) || pid <= 0 || !is_dockerd(pid)) return Reload::not_running;
    if (kill(pid, SIGHUP) != 0)
        return client::fail(client::ClientError::Kind::failed,
                            "dockerd: it can't be told to read its configuration again: " +
                                std::string(std::strerror(errno)) +
                                ". Try: systemctl reload docker, as root.");
    return Reload::done;
}

}  // namespace cgpu::cgpuctl
