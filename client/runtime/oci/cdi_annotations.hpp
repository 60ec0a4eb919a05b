#pragma once

#include <string>
#include <vector>

#include "client/runtime/oci/oci_bundle.hpp"

/// CDI devices in a container's annotations: NVIDIA's runtime applies those below `cdi.k8s.io/` that the
/// engine passes on.
namespace cgpu::runtime {

/// An annotation that names GPUs of NVIDIA.
struct CdiAnnotation {
    std::string name;
    std::string value;              ///< the whole value
    std::vector<std::string> gpus;  ///< as named there: indices, UUIDs or `all`
};

[[nodiscard]] std::vector<CdiAnnotation> cdi_annotations(const OciBundle& bundle);

/// Takes NVIDIA's GPUs out of these annotations; devices of other kinds stay.
void remove_cdi_gpus(OciBundle& bundle);

}  // namespace cgpu::runtime
