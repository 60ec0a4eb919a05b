#include "client/runtime/edit_bundle.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "client/run/granted_environment.hpp"
#include "core/model/quote.hpp"
#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

using Kind = client::ClientError::Kind;

constexpr const char* kCapabilities = "NVIDIA_DRIVER_CAPABILITIES";
constexpr const char* kCudaDevices = "CUDA_VISIBLE_DEVICES";
constexpr std::array<std::string_view, 4> kTakenOut = {"graphics", "display", "ngx", "compat32"};

/// Seconds. The daemon answers in milliseconds; one that has just been restarted may take a few seconds.
constexpr int kHookTimeout = 30;

Json hook(const Edit& edit, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"cgpu-runtime", "hook"});
    Json hook = {{"path", edit.program}, {"args", arguments}, {"timeout", kHookTimeout}};
    if (!edit.bus_address.empty()) hook["env"] = {"DBUS_SYSTEM_BUS_ADDRESS=" + edit.bus_address};
    return hook;
}

}  // namespace

Result<std::string> allowed_capabilities(const std::string* asked) {
    if (asked == nullptr || asked->empty()) return std::string("compute,utility");
    if (*asked == "all") return std::string("compute,utility,video");
    std::string kept = "compute,utility";
    bool any = false;
    for (const std::string_view capability : request::split_list(*asked)) {
        if (std::find(kTakenOut.begin(), kTakenOut.end(), capability) != kTakenOut.end()) continue;
        any = true;
        if (capability != "compute" && capability != "utility" && !capability.empty())
            kept += "," + std::string(capability);
    }
    if (!any)
        return client::fail(Kind::refused,
                            std::string(kCapabilities) + "=" + model::quote(*asked) +
                                ": rendering does not pass CUDA, so it can't be isolated. Try: "
                                "compute,utility, or the container without a memory limit.");
    return kept;
}

Result<void> edit_bundle(Bundle& bundle, const Edit& edit) {
    const Variables environment = bundle.environment();
    const auto asked = environment.find(kCapabilities);
    const auto capabilities = allowed_capabilities(asked == environment.end() ? nullptr : &asked->second);
    if (!capabilities) return tl::unexpected(capabilities.error());

    // What these said before was the request.
    for (const auto name : {request::names::kMemContainer, request::names::kMemDev})
        bundle.remove_variable(std::string(name));
    for (const auto& [name, value] : client::granted_environment(edit.created.quotas, edit.gpus))
        // Where the image numbers its GPUs itself, that is among those it sees.
        if (name != kCudaDevices || !environment.contains(name)) bundle.set_variable(name, value);
    bundle.set_variable(kCapabilities, *capabilities);

    bundle.add_hook("createRuntime", hook(edit, {"attach", edit.id}));
    const auto library_path = environment.find("LD_LIBRARY_PATH");
    bundle.add_hook("createContainer",
                    hook(edit, {"mount", edit.created.link_folder, bundle.root(),
                                library_path == environment.end() ? "" : library_path->second}));
    return {};
}

}  // namespace cgpu::runtime
