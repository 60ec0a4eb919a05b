#pragma once

#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// Whether the path leads to a program that is none of cgpu's own, which would call itself forever.
[[nodiscard]] bool is_another_runtime(const std::string& path);

/// Folders of programs, whatever PATH says.
[[nodiscard]] const std::vector<std::string>& usual_folders();

/// The runtime that makes the containers: the file that /etc/cgpu/next-runtime links to, else the first of
/// nvidia-container-runtime, runc and crun in `folders`. Never cgpu's own programs. Error (failed): none of
/// them exists.
[[nodiscard]] client::Result<std::string> find_next_runtime(
    const std::string& chosen = "/etc/cgpu/next-runtime",
    const std::vector<std::string>& folders = usual_folders());

/// Whether the next runtime brings GPUs into containers with NVIDIA_VISIBLE_DEVICES or CDI annotations: false
/// for runtimes that are known not to, such as runc.
[[nodiscard]] bool next_runtime_brings_gpus();

/// Whether the container may get GPUs that its bundle doesn't say yet: from that runtime, or by hooks of
/// others.
[[nodiscard]] bool may_get_gpus_later(const OciBundle& bundle);

/// Executes that runtime with the original arguments. Returns only an error.
[[nodiscard]] client::ClientError become_next_runtime(char** arguments);

}  // namespace cgpu::runtime
