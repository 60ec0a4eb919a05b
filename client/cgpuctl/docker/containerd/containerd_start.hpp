#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cgpuctl/docker/engine/engine_process.hpp"

namespace cgpu::cgpuctl {

constexpr const char* kContainerdFile = "/etc/containerd/config.toml";

/// A containerd that runs on this machine by itself: not one that a dockerd has started for its own use.
struct RunningContainerd {
    EngineProcess process;
    std::string file;  ///< its configuration, as an absolute path; it needs not exist
};

[[nodiscard]] std::vector<RunningContainerd> running_containerds(const std::string& proc = "/proc");

/// Where a distribution of Kubernetes writes this file anew at each start, the file that it makes it of; it
/// may be missing. Empty: nobody does, as far as its folder shows.
[[nodiscard]] std::string source_of(const std::string& file);

/// What `containerd config dump` prints for this file: with what it imports, and all defaults. None: there is
/// no containerd that could be asked. `said`: its own words, if it can't read the file.
struct ContainerdDump {
    bool readable = false;
    std::string said;
};
[[nodiscard]] std::optional<ContainerdDump> dump_containerd(const std::string& file);

}  // namespace cgpu::cgpuctl
