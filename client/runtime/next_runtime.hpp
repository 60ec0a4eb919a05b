#pragma once

#include <string>
#include <vector>

#include "client/node/client_error.hpp"

namespace cgpu::runtime {

/// The runtime that makes the containers: the file that /etc/cgpu/next-runtime links to, else the first of
/// nvidia-container-runtime, runc and crun in `folders`. Never cgpu's own programs. Error (failed): none of
/// them is there.
[[nodiscard]] client::Result<std::string> find_next_runtime(
    const std::string& chosen = "/etc/cgpu/next-runtime",
    const std::vector<std::string>& folders = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin",
                                               "/sbin", "/bin"});

/// Becomes that runtime, with the arguments as they were. Returns only with what went wrong.
[[nodiscard]] client::ClientError become_next_runtime(char** arguments);

}  // namespace cgpu::runtime
