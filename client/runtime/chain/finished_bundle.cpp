#include "client/runtime/chain/finished_bundle.hpp"

#include <algorithm>
#include <string>

#include "client/runtime/oci/own_hook.hpp"

namespace cgpu::runtime {
namespace {

Result<void> limit_to_granted(OciBundle& bundle, const KnownGpus& granted, const DeviceAt& device_at) {
    const auto nodes = gpu_access(bundle, device_at).nodes;
    const bool others =
        !std::includes(granted.minors.begin(), granted.minors.end(), nodes.begin(), nodes.end());
    const bool complete =
        std::includes(nodes.begin(), nodes.end(), granted.minors.begin(), granted.minors.end());
    if (others && !complete)
        return client::fail(
            client::ClientError::Kind::refused,
            "the container: NVIDIA's runtime gives it other GPUs than it was granted. Try: name "
            "GPUs by CGPU_GPUS only, and not by annotations or variables of NVIDIA's.");
    return keep_granted_gpus(bundle, {granted.minors.begin(), granted.minors.end()}, device_at);
}

}  // namespace

Result<bool> finish_bundle(OciBundle& bundle, const DeviceAt& device_at) {
    const Json before = bundle.config();
    if (const auto granted = granted_gpus(bundle))
        if (auto limited = limit_to_granted(bundle, *granted, device_at); !limited)
            return tl::unexpected(limited.error());
    bundle.move_hooks_to_the_end("createContainer", kMountHook);
    if (const auto known = checked_gpus(bundle)) {
        if (has_hooks_of_others(bundle) || !known->covers(gpu_access(bundle, device_at)))
            bundle.move_hooks_to_the_end("createRuntime", kCheckHook);
        else
            bundle.remove_hooks("createRuntime", kCheckHook);
    }
    return bundle.config() != before;
}

}  // namespace cgpu::runtime
