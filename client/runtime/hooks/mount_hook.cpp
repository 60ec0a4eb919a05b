#include "client/runtime/hooks/mount_hook.hpp"

#include "client/run/driver/driver_files.hpp"
#include "client/run/mounts/fronts.hpp"

namespace cgpu::runtime {

client::Result<void> mount_hook(const std::string& link_folder, const std::string& root_folder,
                                const client::LoaderEnvironment& environment) {
    const auto root = client::Root::open(root_folder);
    if (!root) return tl::unexpected(root.error());
    const auto driver = client::find_driver(*root, environment);
    if (!driver && driver.error().kind == client::ClientError::Kind::refused)
        return client::fail(client::ClientError::Kind::refused, "the container: " + driver.error().text);
    if (!driver)
        return client::fail(client::ClientError::Kind::refused,
                            "the container: there is no libcuda.so.1 in it, so its part of the GPU could not "
                            "be limited. Try: install nvidia-container-toolkit on the host: it brings the "
                            "driver's libraries into containers.");
    return client::put_fronts_before(*driver, link_folder, *root);
}

}  // namespace cgpu::runtime
