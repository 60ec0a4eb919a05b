#include "client/runtime/call/unmanaged_gpus.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "client/runtime/oci/cdi_annotations.hpp"
#include "client/runtime/oci/gpu_devices.hpp"
#include "core/model/gpu_word.hpp"
#include "core/request/cdi.hpp"
#include "core/request/request.hpp"
#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

/// NVIDIA's hook, by its two names (cmd/nvidia-container-runtime-hook of nvidia-container-toolkit).
constexpr std::array<std::string_view, 2> kHooks = {"nvidia-container-runtime-hook",
                                                    "nvidia-container-toolkit"};

template <class Names>
bool contains(const Names& names, const std::string& path) {
    return std::find(names.begin(), names.end(), std::filesystem::path(path).filename().native()) !=
           names.end();
}

/// NVIDIA_VISIBLE_DEVICES, if it names GPUs. As NVIDIA reads it (devicesFromEnvvars of
/// internal/config/image): `void` anywhere means none, and so does `none` unless `all` comes before it.
std::optional<std::string> by_variable(const OciBundle& bundle) {
    const auto environment = bundle.environment();
    const auto value = request::find_value(environment, request::names::kNvidiaDevices);
    if (!value) return std::nullopt;
    const auto names = request::split_names(*value);
    const auto is = [](std::string_view word) { return [word](auto name) { return name == word; }; };
    if (std::ranges::any_of(names, is("void"))) return std::nullopt;
    const auto none = std::ranges::find_if(names, is("none"));
    if (none != names.end() && std::ranges::find_if(names, is("all")) > none) return std::nullopt;
    return std::string(*value);
}

bool has_nvidias_hook(const OciBundle& bundle) {
    for (const char* stage : {"prestart", "createRuntime"})
        for (const std::string& program : bundle.hook_programs(stage))
            if (contains(kHooks, program)) return true;
    return false;
}

/// A GPU's name; null for all other texts, such as `all` and MIG devices.
std::optional<std::string> gpu_name(std::string_view entry) {
    entry = request::gpu_of_cdi_name(entry).value_or(entry);
    if (!model::parse_gpu_word(entry)) return std::nullopt;
    return std::string(entry);
}

}  // namespace

bool gets_unmanaged_gpus(const OciBundle& bundle, const std::function<bool()>& brought_by_next) {
    const GpuAccess access = gpu_access(bundle);
    if (access.all_by_rule || !access.gpus().empty()) return true;
    const bool variable = by_variable(bundle).has_value();
    if (variable && has_nvidias_hook(bundle)) return true;
    return (variable || !cdi_annotations(bundle).empty()) && brought_by_next();
}

std::vector<std::string> unmanaged_gpus(const OciBundle& bundle, const GpuMinors& minors) {
    std::vector<std::string> named;
    if (const auto value = by_variable(bundle))
        for (const std::string_view entry : request::split_names(*value)) named.emplace_back(entry);
    for (const CdiAnnotation& annotation : cdi_annotations(bundle))
        named.insert(named.end(), annotation.gpus.begin(), annotation.gpus.end());
    std::vector<std::string> gpus;
    for (const std::string& entry : named) {
        const auto gpu = gpu_name(entry);
        if (!gpu) return {};
        gpus.push_back(*gpu);
    }
    const GpuAccess access = gpu_access(bundle);
    if (access.all_by_rule) return {};
    for (const std::uint32_t minor : access.gpus()) {
        const auto gpu = minors.find(minor);
        if (gpu == minors.end()) return {};
        gpus.push_back(gpu->second);
    }
    return gpus;
}

}  // namespace cgpu::runtime
