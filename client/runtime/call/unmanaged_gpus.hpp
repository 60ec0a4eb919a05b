#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/runtime/oci/gpu_minors.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

/// Containers that get GPUs and ask for no part of one. What happens to them is the configuration of cgpud
/// (`unmanaged`). Those that decline management (CGPU_DISABLE, an amount of zero) are among them: otherwise a
/// variable of the user's would pass what the administrator refuses.
namespace cgpu::runtime {

/// Whether the container gets a GPU, as far as it can be told before the next runtime: by its device nodes
/// and the rules of its device cgroup, by a hook of NVIDIA's (docker run --gpus) or, if the next runtime
/// brings them, by its variables and annotations. What that runtime decides by other things is found
/// afterwards (add_check_hook()).
[[nodiscard]] bool gets_unmanaged_gpus(const OciBundle& bundle, const std::function<bool()>& brought_by_next);

/// The GPUs that such a container names in any way, as it names them; empty: all, or none that can be told.
[[nodiscard]] std::vector<std::string> unmanaged_gpus(const OciBundle& bundle, const GpuMinors& minors);

}  // namespace cgpu::runtime
