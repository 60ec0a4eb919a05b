#pragma once

#include <string>

#include "client/cgpuctl/base/verb.hpp"

/// cgpu's container runtime and the engines that it is registered with.
namespace cgpu::cgpuctl {

struct RuntimeInput : Input {
    std::string engine;
    std::string as;
    bool make_default = false;
    bool remove = false;
    bool no_reload = false;
    std::string file;
};

client::Result<void> runtime(const RuntimeInput& input, client::Node& node, Terminal& terminal);

/// Registers the runtime `cgpu` with Docker, or undoes it, in the file that the running dockerd reads. That
/// is told to read it again, and asked what it has in force then. Error: not_authorized, failed; refused:
/// dockerd wouldn't take it, and the file is as it was.
[[nodiscard]] client::Result<void> configure_docker(const RuntimeInput& input, Terminal& terminal);

/// Registers the runtime `cgpu` (`program`) with Podman, for all users of the machine, or undoes it. Error:
/// not_authorized, failed.
[[nodiscard]] client::Result<void> configure_podman(const RuntimeInput& input, const std::string& program,
                                                    Terminal& terminal);

/// Registers the runtime `cgpu` (`program`) in containerd's configuration, or undoes it. Error:
/// not_authorized, failed, refused (containerd_config.hpp).
[[nodiscard]] client::Result<void> configure_containerd(const RuntimeInput& input, const std::string& program,
                                                        Terminal& terminal);

}  // namespace cgpu::cgpuctl
