#include "client/cgpuctl/cdi/cdi_spec.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "client/run/mounts/container_hooks.hpp"
#include "core/request/cdi.hpp"
#include "core/request/percent.hpp"
#include "core/request/variables.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace names = request::names;

/// The oldest version in which a device's name may begin with a digit.
constexpr const char* kVersion = "0.5.0";

/// A part of a card: 1/`parts` of its memory and of its compute.
struct Size {
    std::string_view name;
    std::uint32_t parts;
    [[nodiscard]] std::uint32_t percent() const { return 100 / parts; }
};
constexpr std::array<Size, 3> kSizes = {{{"quarter", 4}, {"half", 2}, {"whole", 1}}};

Json hook(const char* stage, std::vector<std::string> more, const CdiHooks& hooks) {
    std::vector<std::string> arguments(request::kCdiHook.begin(), request::kCdiHook.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {{"hookName", stage},
            {"path", hooks.program},
            {"args", arguments},
            {"env", client::hook_environment(hooks.bus_address)},
            {"timeout", client::kHookTimeout}};
}

std::string set(std::string_view name, const std::string& value) { return std::string(name) + "=" + value; }

/// NVIDIA's runtime leaves out rendering, which does not use CUDA and can't be limited.
constexpr const char* kCapabilities = "NVIDIA_DRIVER_CAPABILITIES=compute,utility,video";

/// So many parts of a card: cgpud takes each card's own memory. `gpu`: its UUID; empty: any.
Json part_of_card(const Size& size, const std::string& gpu) {
    Json variables = {set(names::kMemContainer, "1"), set(names::kMemDev, std::to_string(size.parts)),
                      set(names::kCompute, std::to_string(size.percent()) + "%"), kCapabilities};
    if (!gpu.empty()) {
        // What cgpu-runtime would set after the grant.
        variables.push_back(set(names::kGpus, gpu));
        for (const std::string_view seen : {names::kNvidiaDevices, std::string_view("CUDA_VISIBLE_DEVICES")})
            variables.push_back(set(seen, gpu));
    }
    return variables;
}

Json device(const std::string& name, const Json& variables, const CdiHooks& hooks) {
    Json all = Json::array();
    all.push_back(hook("createRuntime", {"attach", name}, hooks));
    all.push_back(hook("createContainer", {"mount", name, hooks.instances}, hooks));
    const Json place = {{"hostPath", "tmpfs"},
                        {"containerPath", client::kPlaceOfMounts},
                        {"type", "tmpfs"},
                        {"options", client::kPlaceOptions}};
    return {{"name", name},
            {"containerEdits", {{"env", variables}, {"mounts", Json::array({place})}, {"hooks", all}}}};
}

}  // namespace

CdiSpec cdi_spec(const std::vector<client::Gpu>& gpus, const CdiHooks& hooks,
                 const std::vector<std::string>& profiles) {
    CdiSpec spec;
    Json devices = Json::array();
    std::array<bool, kSizes.size()> fits_somewhere{};
    for (const client::Gpu& gpu : gpus) {
        if (!gpu.present) continue;
        const std::string index = std::to_string(gpu.index);
        if (!gpu.obstacle.empty()) {
            spec.left_out.push_back("GPU " + index +
                                    " has no device: it takes no instance. Try: cgpuctl doctor.");
            continue;
        }
        for (std::size_t i = 0; i < kSizes.size(); ++i) {
            const Size& size = kSizes[i];
            const std::string name = index + "-" + std::string(size.name);
            const auto slices = request::percent_to_slices(size.percent(), gpu.max_inst);
            if (!slices) {
                spec.left_out.push_back(name + " is left out: " + slices.error());
                spec.left_out.back() += ". Try: cgpuctl set-max-inst " + index + " 20, and then this again.";
                continue;
            }
            fits_somewhere[i] = true;
            devices.push_back(device(name, part_of_card(size, gpu.uuid), hooks));
        }
    }
    for (std::size_t i = 0; i < kSizes.size(); ++i)
        if (fits_somewhere[i])
            devices.push_back(device(std::string(kSizes[i].name), part_of_card(kSizes[i], {}), hooks));
    for (const std::string& profile : profiles) {
        const bool taken =
            std::ranges::any_of(devices, [&](const Json& each) { return each["name"] == profile; });
        if (taken)
            spec.left_out.push_back(
                "The profile " + profile +
                " has no device: another one has this name. Try: give the profile another name.");
        else
            devices.push_back(device(profile, {set(names::kProfile, profile), kCapabilities}, hooks));
    }
    spec.json = {{"cdiVersion", kVersion}, {"kind", std::string(request::kOwnCdiKind)}, {"devices", devices}};
    return spec;
}

}  // namespace cgpu::cgpuctl
