#pragma once

#include <vector>

#include "client/runtime/oci/gpu_minors.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// The GPUs that a container's device nodes and CDI annotations name are its choice, as those of
/// NVIDIA_VISIBLE_DEVICES are: if they name some, `variables` gets them in the place of its own. If they name
/// all of the node, the choice is cgpud's, as with `all`; a privileged container has the nodes of all.
///
/// Error (refused): they contradict each other, or CGPU_GPUS or the like; the text names both. A node or name
/// is of no GPU that the node has.
[[nodiscard]] Result<void> choose_by_devices(Variables& variables, const OciBundle& bundle,
                                             const std::vector<client::Gpu>& gpus, const GpuMinors& minors);

}  // namespace cgpu::runtime
