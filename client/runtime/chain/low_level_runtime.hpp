#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/node/client_error.hpp"
#include "client/runtime/call/invocation.hpp"

/// NVIDIA's runtime edits a container's config.json after cgpu-runtime has, and adds hooks behind those that
/// are there: they make the driver's symbolic links and the loader's cache. cgpu's mounts must come after
/// them, when it is settled which driver the container's programs load. So cgpu-runtime comes in a second
/// time: NVIDIA's runtime looks for the low-level runtime by name, along PATH first
/// (internal/oci/runtime_low_level.go of nvidia-container-toolkit), and there meets a folder of links to
/// cgpu-runtime. Called by one of these, it moves cgpu's mounts behind the other hooks and becomes the
/// runtime of that name.
namespace cgpu::runtime {

/// Puts the folder of those links in front of PATH, for the runtime that this process is about to become.
void stand_before_low_level_runtimes();

/// The low-level runtime that was meant, by its name, where this program was called by one of those links.
[[nodiscard]] std::optional<std::string> low_level_name(const std::string& called_as);

/// The program of that name along `path` (as PATH), or in the usual folders; never one of cgpu's.
[[nodiscard]] client::Result<std::string> find_low_level_runtime(const std::string& name,
                                                                 const std::string& path);

/// Moves cgpu's mounts to the end, where this call makes a container, and becomes the runtime of that name,
/// with the arguments and PATH as they were. Returns only with what went wrong.
[[nodiscard]] client::ClientError become_low_level_runtime(const std::string& name,
                                                           const Invocation& invocation, char** arguments);

}  // namespace cgpu::runtime
