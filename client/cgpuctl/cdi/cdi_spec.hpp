#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/output/json.hpp"
#include "client/node/values/snapshot.hpp"

namespace cgpu::cgpuctl {

/// What the hooks of the specification need.
struct CdiHooks {
    std::string program;      ///< cgpu-runtime's path
    std::string instances;    ///< cgpud's folder of instances
    std::string bus_address;  ///< DBUS_SYSTEM_BUS_ADDRESS of the caller; empty where it has none
};

struct CdiSpec {
    Json json;
    std::vector<std::string> left_out;  ///< sentences: which devices it lacks, and why
};

/// The CDI specification of cgpu's own kind (https://github.com/cncf-tags/container-device-interface, version
/// 0.5): for each GPU that takes instances `0-quarter`, `0-half` and `0-whole`, and the same without a GPU,
/// which cgpud then chooses. A device adds a request of this part of the memory and of the compute, and the
/// hooks that carry it out where cgpu-runtime doesn't make the container. A part of a GPU that is no whole
/// number of its slices is left out.
/// Each profile of the node is a device, too, unless it is called as another one.
[[nodiscard]] CdiSpec cdi_spec(const std::vector<client::Gpu>& gpus, const CdiHooks& hooks,
                               const std::vector<std::string>& profiles = {});

}  // namespace cgpu::cgpuctl
