#pragma once

#include <vector>

#include "client/node/node.hpp"
#include "client/runtime/oci/gpu_minors.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// The GPUs that a container's device nodes and CDI annotations name, and NVIDIA's volumes where nothing else
/// does, are its choice, as those of NVIDIA_VISIBLE_DEVICES are: if they name some, `variables` gets them in
/// the place of its own. If they name all of the node, the choice is cgpud's, as with `all`; a privileged
/// container has the nodes of all.
///
/// Error (refused): they contradict each other, or CGPU_GPUS or the like; the text names both. A node or name
/// is of no GPU that the node has.
[[nodiscard]] Result<void> choose_by_devices(Variables& variables, const OciBundle& bundle,
                                             const std::vector<client::Gpu>& gpus, const GpuMinors& minors);

/// The GPUs after the node has looked at them again: those that it doesn't see may have come since.
[[nodiscard]] Result<std::vector<client::Gpu>> read_gpus_again(client::Node& node,
                                                               const std::vector<client::Gpu>& gpus);
/// Whether the GPUs of these quotas are among them, and present.
[[nodiscard]] bool knows_all(const std::vector<client::Gpu>& gpus, const std::vector<client::Quota>& quotas);

}  // namespace cgpu::runtime
