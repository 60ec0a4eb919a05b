#include "client/runtime/cdi_mount.hpp"

#include <sstream>

#include "client/runtime/hooks/container_state.hpp"
#include "client/runtime/hooks/mount_hook.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

client::Result<void> cdi_mount_hook(const std::string& instances, const std::string& state) {
    std::istringstream text(state);
    const auto container = read_container_state(text);
    if (!container)
        return client::fail(
            client::ClientError::Kind::failed,
            "the container: the runtime gave no state with its bundle. Try: use runc or crun.");
    const auto bundle = OciBundle::read(container->bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    if (bundle->is_managed()) return {};
    std::istringstream again(state);
    return mount_hook(instances + "/" + container->id + "/link", bundle->root(),
                      {bundle->variable("LD_LIBRARY_PATH"), bundle->variable("CONDA_PREFIX")}, again);
}

}  // namespace cgpu::runtime
