#pragma once

#include <string>
#include <vector>

#include "client/node/node.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// What a managed container's config.json gets beside its own content.
struct Edit {
    std::string id;
    std::string program;      ///< cgpu-runtime's path, for the hooks
    std::string bus_address;  ///< DBUS_SYSTEM_BUS_ADDRESS of the caller; empty where it has none
    client::Created created;
    std::vector<client::Gpu> gpus;
};

/// NVIDIA_DRIVER_CAPABILITIES of a managed container whose own value is `asked` (null: none): of compute,
/// utility and video what it asks for; `all` means these three. Compute and utility are always there.
/// Graphics, display and ngx are left out, since rendering by-passes CUDA (S2), and compat32, since the
/// module is for 64-bit programs. Errors (refused): it asks for nothing but those, or for what NVIDIA's
/// toolkit doesn't know.
[[nodiscard]] Result<std::string> allowed_capabilities(const std::string* asked);

/// Variables of the grant, and the two hooks. Not yet written.
[[nodiscard]] Result<void> edit_bundle(OciBundle& bundle, const Edit& edit);

}  // namespace cgpu::runtime
