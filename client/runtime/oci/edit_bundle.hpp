#pragma once

#include <string>
#include <vector>

#include "client/node/node.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// What is added to a managed container's config.json.
struct Edit {
    std::string id;
    std::string program;      ///< cgpu-runtime's path, for the hooks
    std::string bus_address;  ///< DBUS_SYSTEM_BUS_ADDRESS of the caller; empty where it has none
    client::Created created;
    std::vector<client::Gpu> gpus;
    std::string log_argument{};  ///< of its hooks (hook_log.hpp); may be empty
    /// The next runtime or hooks may bring other GPUs in: the granted ones are noted in the bundle, so that
    /// they can be compared with what the container finally has.
    bool may_get_more = false;
    /// NVIDIA's runtime takes the GPUs of this container from volumes only.
    bool by_volumes = false;
};

/// NVIDIA_DRIVER_CAPABILITIES of a managed container that requests `asked` (null: none): those of compute,
/// utility and video that it requests; `all` stands for these three. Compute and utility are always included.
/// Graphics, display and ngx are left out, because rendering bypasses CUDA, and so is compat32, because the
/// module is for 64-bit programs. Errors (refused): it requests nothing but those, or a capability that
/// NVIDIA's toolkit doesn't know.
[[nodiscard]] Result<std::string> allowed_capabilities(const std::string* asked);

/// Adds the hook that tells cgpud the first process of a container without a limit. `must_succeed`: the
/// container doesn't start if that fails.
void add_attach_hook(OciBundle& bundle, const Edit& edit, bool must_succeed);

/// Adds the variables of the grant, and the two hooks, and takes out the devices of GPUs that weren't
/// granted. Doesn't write the file yet. Errors are those of allowed_capabilities() and keep_granted_gpus().
[[nodiscard]] Result<void> edit_bundle(OciBundle& bundle, const Edit& edit);

}  // namespace cgpu::runtime
