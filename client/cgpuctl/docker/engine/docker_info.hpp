#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

/// What a running dockerd has in force.
struct DockerInfo {
    std::map<std::string, std::string> runtimes;  ///< name → path; the path may be empty
    std::string default_runtime;

    friend bool operator==(const DockerInfo&, const DockerInfo&) = default;
};

/// The body of the answer to `GET /info`. None: it isn't that.
[[nodiscard]] std::optional<DockerInfo> read_docker_info(std::string_view json);

/// The paths of the sockets that `hosts` (`unix:///run/docker.sock`, `fd://`) name, without doubles. Those of
/// systemd, and of a dockerd without any host, are Docker's usual ones.
[[nodiscard]] std::vector<std::string> docker_sockets(const std::vector<std::string>& hosts);

/// Asks over the first of these sockets that answers, for at most five seconds each. Error (unreachable):
/// none does.
[[nodiscard]] client::Result<DockerInfo> ask_docker(const std::vector<std::string>& sockets);

/// `runtimes cgpu, nvidia, runc; default runc`
[[nodiscard]] std::string to_text(const DockerInfo& info);

}  // namespace cgpu::cgpuctl
