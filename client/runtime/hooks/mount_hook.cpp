#include "client/runtime/hooks/mount_hook.hpp"

#include <algorithm>

#include "client/run/driver/driver_files.hpp"
#include "client/run/mounts/fronts.hpp"
#include "client/runtime/oci/cdi_devices.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {
namespace {

/// Whether other hooks of this stage come after this one. NVIDIA's runtime appends some, and cgpu-runtime
/// moves this one behind them, unless the toolkit's configuration names its low-level runtime by a path.
bool hooks_follow(std::istream& input) {
    const auto state = Json::parse(input, nullptr, false);
    const auto folder = state.is_object() ? state.find("bundle") : state.end();
    if (!state.is_object() || folder == state.end() || !folder->is_string()) return false;
    auto bundle = OciBundle::read(folder->get<std::string>());
    if (!bundle) return false;
    const std::vector<std::string> own = bundle->is_managed() ? kMountHook : cdi_hook();
    return bundle->move_hooks_to_the_end("createContainer", own);
}

}  // namespace

std::string advice(const NvidiaSettings& settings) {
    if (settings.by_variable)
        return "install nvidia-container-toolkit on the host: it brings the driver's libraries into "
               "containers";
    if (settings.by_volumes)
        return "look at the log of NVIDIA's runtime: it takes the GPU from the volume that cgpu adds to the "
               "container";
    return std::string("write accept-nvidia-visible-devices-as-volume-mounts = true into ") +
           kNvidiaSettings +
           ", by which cgpu names the GPU then; the file lets no container without privileges name it by "
           "NVIDIA_VISIBLE_DEVICES";
}

client::Result<void> mount_hook(const std::string& link_folder, const std::string& root_folder,
                                const client::LoaderEnvironment& environment, std::istream& state) {
    const auto root = client::Root::open(root_folder);
    if (!root) return tl::unexpected(root.error());
    const auto driver = client::find_driver(*root, environment, client::Place::container);
    if (!driver && driver.error().kind == client::ClientError::Kind::refused)
        return client::fail(client::ClientError::Kind::refused, "the container: " + driver.error().text);
    if (!driver)
        return client::fail(
            client::ClientError::Kind::refused,
            "the container: there is no libcuda.so.1 in it, so its part of the GPU could not be "
            "limited. Try: " +
                advice(nvidia_settings()) + ".");
    const auto& files = driver->libraries.front().files;
    // The same file may be shown at several paths.
    const auto other = std::ranges::find_if(
        files, [&files](const client::LibraryFile& file) { return file.id != files.front().id; });
    if (other != files.end() && hooks_follow(state))
        return client::fail(
            client::ClientError::Kind::refused,
            "the container: it has several drivers, such as " + files.front().path + " and " + other->path +
                ", and hooks that run after cgpu's decide which one its programs load. "
                "Try: name the low-level runtimes without a path in "
                "/etc/nvidia-container-runtime/config.toml (runtimes = [\"runc\", \"crun\"]).");
    return client::put_fronts_before(driver->libraries, link_folder, *root);
}

}  // namespace cgpu::runtime
