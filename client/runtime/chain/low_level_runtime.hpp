#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "client/runtime/call/invocation.hpp"

/// NVIDIA's runtime edits a container's config.json after cgpu-runtime has: it adds devices, and appends
/// hooks, which make the driver's symbolic links and the loader's cache. What it has added must be what cgpud
/// knows of (finished_bundle.hpp), and cgpu's mounts must come after those hooks, when it is decided which
/// driver the container's programs load. So cgpu-runtime is called a second time: NVIDIA's runtime looks up
/// the low-level runtime by name, along PATH first (internal/oci/runtime_low_level.go of
/// nvidia-container-toolkit), and finds a folder of links to cgpu-runtime there. When it is called by one of
/// these links, it finishes the bundle and executes the runtime of that name.
namespace cgpu::runtime {

/// Puts the folder of those links in front of PATH, for the runtime that this process is about to execute.
void stand_before_low_level_runtimes();

/// The name of the intended low-level runtime, if this program was called by one of those links.
[[nodiscard]] std::optional<std::string> low_level_name(const std::string& called_as);

/// For a runtime that calls cgpu-runtime by its own name as the low-level one: runc, or crun if only that is
/// there.
[[nodiscard]] std::string present_low_level_runtime();

/// The program of that name along `path` (as PATH), or in the usual folders; never one of cgpu's.
[[nodiscard]] client::Result<std::string> find_low_level_runtime(const std::string& name,
                                                                 const std::string& path);

/// Finishes the bundle (finish_bundle()), if this call creates a container, and executes the runtime of that
/// name with the original arguments and PATH. Returns only an error.
[[nodiscard]] client::ClientError become_low_level_runtime(const std::string& name,
                                                           const Invocation& invocation, char** arguments);

}  // namespace cgpu::runtime
