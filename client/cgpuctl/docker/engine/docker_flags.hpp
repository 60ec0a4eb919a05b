#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cgpu::cgpuctl {

/// What dockerd was told on its command line, as far as it concerns its runtimes. dockerd refuses to start,
/// and to read its file again, if a setting is in both.
struct DockerFlags {
    std::string config_file;                      ///< `--config-file`; empty: not given
    std::vector<std::string> hosts;               ///< `-H`, `--host`: `unix:///run/docker.sock`, `fd://`
    std::map<std::string, std::string> runtimes;  ///< `--add-runtime NAME=PATH`
    std::optional<std::string> default_runtime;   ///< `--default-runtime`
    bool generic_resources = false;               ///< `--node-generic-resource`
    bool rootless = false;

    friend bool operator==(const DockerFlags&, const DockerFlags&) = default;
};

/// The words of a command line, without or with the program's name.
[[nodiscard]] DockerFlags docker_flags(const std::vector<std::string>& words);

}  // namespace cgpu::cgpuctl
