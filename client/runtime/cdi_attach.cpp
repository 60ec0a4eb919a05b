#include "client/runtime/cdi_attach.hpp"

#include <algorithm>
#include <sstream>

#include "client/runtime/call/asked.hpp"
#include "client/runtime/call/device_choice.hpp"
#include "client/runtime/call/unmanaged_gpus.hpp"
#include "client/runtime/hooks/attach_hook.hpp"
#include "client/runtime/hooks/check_hook.hpp"
#include "client/runtime/hooks/container_state.hpp"
#include "client/runtime/oci/cdi_devices.hpp"
#include "client/runtime/oci/engine_record.hpp"
#include "client/runtime/oci/gpu_minors.hpp"
#include "core/request/request.hpp"

namespace cgpu::runtime {
namespace {

using Kind = client::ClientError::Kind;

constexpr const char* kUseTheRuntime =
    "or have cgpu's runtime make the container (docker run --runtime=cgpu, podman "
    "--runtime cgpu run).";

std::string device_of(const OciBundle& bundle) {
    const auto devices = own_cdi_devices(bundle);
    return devices.empty() ? "the container" : devices.front();
}

/// The engine has already chosen what the container gets, so the request must name the GPUs.
Result<void> check_named(const Variables& variables, const OciBundle& bundle,
                         const std::vector<client::Gpu>& gpus) {
    const auto request = request::parse_request(variables);
    if (!request) return client::fail(Kind::refused, request.error().text);
    const auto present = std::count_if(gpus.begin(), gpus.end(), [](const auto& gpu) { return gpu.present; });
    if (!*request || !(*request)->gpus.empty() || present == 1) return {};
    return client::fail(
        Kind::refused,
        device_of(bundle) +
            ": it leaves the choice of the GPU to cgpud, which needs cgpu's runtime. Try: name a "
            "device of one GPU, such as cgpu.org/gpu=0-quarter, " +
            kUseTheRuntime);
}

/// What it gets without cgpu's runtime must be what it was granted.
Result<void> check_granted(const OciBundle& bundle, const client::Created& created, const GpuMinors& minors) {
    // NVIDIA's runtime has put its hook or its devices into the bundle by now.
    if (!gets_unmanaged_gpus(bundle, [] { return false; })) return {};
    auto gets = unmanaged_gpus(bundle, minors);
    const auto granted = [&](const std::string& gpu) {
        return std::any_of(created.quotas.begin(), created.quotas.end(), [&](const client::Quota& quota) {
            return quota.gpu == gpu || std::to_string(quota.gpu_index) == gpu;
        });
    };
    const auto other = std::find_if_not(gets.begin(), gets.end(), granted);
    if (other == gets.end() && (!gets.empty() || minors.size() == 1)) return {};
    return client::fail(
        Kind::refused,
        device_of(bundle) + ": the container also gets " + (gets.empty() ? "all GPUs" : "GPU " + *other) +
            ", of which it was granted no part. Try: name that GPU nowhere else, " + kUseTheRuntime);
}

/// The same for what hooks have brought in before this one.
Result<void> check_brought_in(const ContainerState& container, const client::Created& created,
                              const GpuMinors& minors) {
    KnownGpus granted;
    for (const auto& [minor, uuid] : minors)
        for (const client::Quota& quota : created.quotas)
            if (quota.gpu == uuid) granted.minors.insert(minor);
    const auto beyond = gpus_beyond(container, granted);
    if (!beyond) return tl::unexpected(beyond.error());
    if (!*beyond) return {};
    return client::fail(
        Kind::refused,
        std::string("the container: hooks brought in GPUs of which it was granted no part. Try: "
                    "name GPUs by one of cgpu's devices only, ") +
            kUseTheRuntime);
}

}  // namespace

client::Result<void> cdi_attach_hook(const std::string& state, client::Node& node) {
    std::istringstream text(state);
    const auto container = read_container_state(text);
    if (!container)
        return client::fail(
            Kind::failed, "the container: the runtime gave no state with its bundle. Try: use runc or crun.");
    auto bundle = OciBundle::read(container->bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    if (bundle->is_managed()) return {};
    auto variables = asked_by(*bundle);
    if (!variables) return tl::unexpected(variables.error());

    auto gpus = node.read_gpus();
    if (!gpus) return tl::unexpected(gpus.error());
    GpuMinors minors = read_gpu_minors(*gpus);
    auto chosen = choose_by_devices(*variables, *bundle, *gpus, minors);
    if (!chosen) {
        gpus = read_gpus_again(node, *gpus);
        if (!gpus) return tl::unexpected(gpus.error());
        minors = read_gpu_minors(*gpus);
        chosen = choose_by_devices(*variables, *bundle, *gpus, minors);
    }
    if (!chosen) return chosen;
    if (auto named = check_named(*variables, *bundle, *gpus); !named) return named;
    const std::string& id = container->id;
    auto [name, image] = engine_record(*bundle, id);
    const auto created = node.create_instance({id, std::move(name), std::move(image), *variables});
    if (!created) return tl::unexpected(created.error());
    auto done = check_granted(*bundle, *created, minors);
    if (done && has_hooks_of_others(*bundle)) done = check_brought_in(*container, *created, minors);
    if (done) {
        std::istringstream again(state);
        done = attach_hook(id, again, node);
    }
    if (!done) (void)node.release_instance(id);
    return done;
}

}  // namespace cgpu::runtime
