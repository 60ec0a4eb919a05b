#pragma once

#include <string>
#include <vector>

#include "client/runtime/oci/oci_bundle.hpp"

/// cgpu's own CDI devices, `cgpu.org/gpu=0-quarter`. The engine applies them before it calls the runtime:
/// what they add are variables, which are a request like any other, and hooks, by which the request is also
/// carried out if another runtime makes the container.
namespace cgpu::runtime {

/// The first arguments of their hooks.
[[nodiscard]] std::vector<std::string> cdi_hook();

/// As the engine was told: `cgpu.org/gpu=NAME`, each once.
[[nodiscard]] std::vector<std::string> own_cdi_devices(const OciBundle& bundle);

/// cgpu-runtime has hooks of its own.
void remove_cdi_hooks(OciBundle& bundle);

}  // namespace cgpu::runtime
