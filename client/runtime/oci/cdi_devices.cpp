#include "client/runtime/oci/cdi_devices.hpp"

#include <algorithm>

#include "core/request/cdi.hpp"

namespace cgpu::runtime {
namespace {

/// After `attach`.
constexpr std::size_t kPlaceOfName = request::kCdiHook.size() + 1;
constexpr const char* kAttachStage = "createRuntime";

}  // namespace

std::vector<std::string> cdi_hook() { return {request::kCdiHook.begin(), request::kCdiHook.end()}; }

std::vector<std::string> own_cdi_devices(const OciBundle& bundle) {
    std::vector<std::string> devices;
    for (const Json& hook :
         list_at(bundle.config(), Json::json_pointer("/hooks/" + std::string(kAttachStage)))) {
        if (!begins_with(hook, cdi_hook())) continue;
        const Json& arguments = hook["args"];
        if (arguments.size() <= kPlaceOfName || !arguments[kPlaceOfName].is_string()) continue;
        std::string device =
            std::string(request::kOwnCdiKind) + "=" + arguments[kPlaceOfName].get<std::string>();
        if (std::find(devices.begin(), devices.end(), device) == devices.end())
            devices.push_back(std::move(device));
    }
    return devices;
}

void remove_cdi_hooks(OciBundle& bundle) {
    for (const char* stage : {kAttachStage, "createContainer"}) bundle.remove_hooks(stage, cdi_hook());
}

}  // namespace cgpu::runtime
