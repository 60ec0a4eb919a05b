#include "client/runtime/oci/edit_bundle.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "client/run/job/granted_environment.hpp"
#include "client/run/mounts/container_hooks.hpp"
#include "client/runtime/oci/cdi_annotations.hpp"
#include "client/runtime/oci/cdi_devices.hpp"
#include "client/runtime/oci/gpu_devices.hpp"
#include "client/runtime/oci/gpu_minors.hpp"
#include "client/runtime/oci/nvidia_volumes.hpp"
#include "client/runtime/oci/own_hook.hpp"
#include "core/model/quote.hpp"
#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

using Kind = client::ClientError::Kind;

constexpr const char* kCapabilities = "NVIDIA_DRIVER_CAPABILITIES";
/// NVIDIA's own example of `swarm-resource`, which it prefers to NVIDIA_VISIBLE_DEVICES where it is
/// configured.
constexpr const char* kSwarmDevices = "DOCKER_RESOURCE_GPU";
constexpr const char* kCudaDevices = "CUDA_VISIBLE_DEVICES";
/// The capabilities that a managed container may have; it always has the first two.
constexpr std::array<std::string_view, 3> kKept = {"compute", "utility", "video"};
/// The other capabilities of NVIDIA's toolkit: rendering, which does not use CUDA, and 32-bit libraries.
constexpr std::array<std::string_view, 4> kTakenOut = {"graphics", "display", "ngx", "compat32"};

Json hook(const Edit& edit, std::vector<std::string> arguments) {
    return OwnHooks{edit.program, edit.bus_address, edit.log_argument}.hook(std::move(arguments));
}

/// The runtime makes the places of the mounts that the bundle lists (kPlaceOfMounts says why it is needed).
void give_read_only_root_a_place(OciBundle& bundle) {
    Json& config = bundle.config();
    const Json::json_pointer read_only("/root/readonly");
    if (!config.contains(read_only) || config[read_only] != true) return;
    if (!config.contains("mounts") || !config["mounts"].is_array()) config["mounts"] = Json::array();
    config["mounts"].push_back({{"destination", client::kPlaceOfMounts},
                                {"type", "tmpfs"},
                                {"source", "tmpfs"},
                                {"options", client::kPlaceOptions}});
}

/// The minor numbers of the granted GPUs.
std::vector<std::uint32_t> granted_minors(const Edit& edit) {
    std::vector<std::uint32_t> minors;
    for (const auto& [minor, uuid] : read_gpu_minors(edit.gpus))
        for (const client::Quota& quota : edit.created.quotas)
            if (quota.gpu == uuid) minors.push_back(minor);
    return minors;
}

}  // namespace

Result<std::string> allowed_capabilities(const std::string* asked) {
    std::array<bool, kKept.size()> wanted{true, true, false};
    bool any = asked == nullptr || asked->empty();
    const std::string_view all = asked == nullptr ? std::string_view() : *asked;
    for (const std::string_view capability : request::split_list(all)) {
        if (std::find(kTakenOut.begin(), kTakenOut.end(), capability) != kTakenOut.end()) continue;
        any = true;
        if (capability.empty()) continue;
        const auto kept = std::find(kKept.begin(), kKept.end(), capability);
        if (kept == kKept.end() && capability != "all")
            return client::fail(Kind::refused,
                                std::string(kCapabilities) + "=" + model::quote(*asked) + ": " +
                                    model::quote(capability) +
                                    " is none of NVIDIA's capabilities. Try: request compute,utility.");
        if (capability == "all")
            wanted.fill(true);
        else
            wanted[static_cast<std::size_t>(kept - kKept.begin())] = true;
    }
    if (!any)
        return client::fail(Kind::refused,
                            std::string(kCapabilities) + "=" + model::quote(*asked) +
                                ": rendering does not use CUDA, so it can't be isolated. Try: request "
                                "compute,utility, or start the container without a memory limit.");
    std::string text;
    for (std::size_t i = 0; i < kKept.size(); ++i)
        if (wanted[i]) text += (text.empty() ? "" : ",") + std::string(kKept[i]);
    return text;
}

void add_attach_hook(OciBundle& bundle, const Edit& edit, bool must_succeed) {
    std::vector<std::string> arguments = {"attach", edit.id};
    if (!must_succeed) arguments.emplace_back("if-possible");
    bundle.add_hook("createRuntime", hook(edit, arguments));
}

Result<void> edit_bundle(OciBundle& bundle, const Edit& edit) {
    const Variables environment = bundle.environment();
    const auto asked = environment.find(kCapabilities);
    const auto capabilities = allowed_capabilities(asked == environment.end() ? nullptr : &asked->second);
    if (!capabilities) return tl::unexpected(capabilities.error());

    // Their former values were the request.
    for (const auto name : {request::names::kMemContainer, request::names::kMemDev, request::names::kMemUnit})
        bundle.remove_variable(std::string(name));
    for (const auto& [name, value] : client::granted_environment(edit.created.quotas, edit.gpus))
        // An image that numbers its GPUs itself means those that it sees.
        if (name != kCudaDevices || !environment.contains(name)) bundle.set_variable(name, value);
    bundle.set_variable(kCapabilities, *capabilities);
    // NVIDIA's runtime would bring these GPUs in instead of those that the variable names.
    remove_cdi_gpus(bundle);
    std::vector<std::string> uuids;
    for (const client::Quota& quota : edit.created.quotas) uuids.push_back(quota.gpu);
    if (!replace_gpu_volumes(bundle, uuids) && edit.by_volumes) add_gpu_volumes(bundle, uuids);
    if (environment.contains(kSwarmDevices))
        bundle.set_variable(kSwarmDevices, bundle.variable(std::string(request::names::kNvidiaDevices)));
    const auto minors = granted_minors(edit);
    if (auto kept = keep_granted_gpus(bundle, minors); !kept) return kept;

    remove_cdi_hooks(bundle);
    give_read_only_root_a_place(bundle);
    std::vector<std::string> attach = {kAttachHook[2], edit.id};
    if (edit.may_get_more)
        attach.push_back(KnownGpus{{minors.begin(), minors.end()}, false, false}.argument());
    bundle.add_hook("createRuntime", hook(edit, std::move(attach)));
    bundle.add_hook("createContainer",
                    hook(edit, {"mount", edit.created.link_folder, bundle.root(),
                                bundle.variable("LD_LIBRARY_PATH"), bundle.variable("CONDA_PREFIX")}));
    return {};
}

}  // namespace cgpu::runtime
