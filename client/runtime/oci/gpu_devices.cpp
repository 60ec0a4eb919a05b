#include "client/runtime/oci/gpu_devices.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

/// The major number of NVIDIA's devices (Linux, Documentation/admin-guide/devices.txt).
constexpr std::int64_t kMajor = 195;
/// Minor numbers of that major number that aren't GPUs: nvidia-modeset and nvidiactl.
constexpr std::array<std::int64_t, 2> kControl = {254, 255};
constexpr std::string_view kNode = "/dev/nvidia";

const Json::json_pointer kDevices("/linux/devices");
const Json::json_pointer kRules("/linux/resources/devices");
const Json::json_pointer kMounts("/mounts");

std::optional<std::int64_t> number_of(const Json& object, const char* name) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

std::string text_of(const Json& object, const char* name) {
    if (!object.is_object()) return {};
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The GPU that a device node or a rule is for: its minor number. Empty: it is for no GPU, or for more than
/// one.
std::optional<std::uint32_t> gpu_of_device(const Json& device) {
    if (number_of(device, "major") != kMajor || text_of(device, "type") == "b") return std::nullopt;
    const auto minor = number_of(device, "minor");
    if (!minor || *minor < 0 || *minor >= kControl.front()) return std::nullopt;
    return static_cast<std::uint32_t>(*minor);
}

/// The driver names the nodes by their minor numbers.
std::optional<std::uint32_t> gpu_of_mount(const Json& mount) {
    const std::string source = text_of(mount, "source");
    if (!source.starts_with(kNode)) return std::nullopt;
    const auto minor = request::to_number(std::string_view(source).substr(kNode.size()));
    if (!minor || *minor >= static_cast<std::uint64_t>(kControl.front())) return std::nullopt;
    return static_cast<std::uint32_t>(*minor);
}

/// Whether a rule is for all devices of NVIDIA's major number; engines write a missing minor number also as
/// -1.
bool is_for_all_gpus(const Json& rule) {
    const auto allow = rule.is_object() ? rule.find("allow") : rule.end();
    return rule.is_object() && allow != rule.end() && *allow == true && number_of(rule, "major") == kMajor &&
           text_of(rule, "type") != "b" && number_of(rule, "minor").value_or(-1) < 0;
}

bool allows(const Json& rule) {
    const auto allow = rule.find("allow");
    return allow == rule.end() || *allow != false;
}

/// Keeps the entries of a list that are for no GPU or for one of `kept`. True: others were there.
template <typename GpuOf>
bool filter(Json& config, const Json::json_pointer& where, const std::set<std::uint32_t>& kept,
            GpuOf gpu_of) {
    const Json all = list_at(config, where);
    Json left = Json::array();
    for (const Json& entry : all) {
        const auto gpu = gpu_of(entry);
        if (!gpu || kept.contains(*gpu)) left.push_back(entry);
    }
    if (left.size() == all.size()) return false;
    config[where] = std::move(left);
    return true;
}

/// Replaces rules for all GPUs with rules for those of `kept` and for the control devices.
bool narrow_rules(Json& config, const std::set<std::uint32_t>& kept) {
    const Json all = list_at(config, kRules);
    Json narrowed = Json::array();
    bool changed = false;
    for (const Json& rule : all) {
        if (!is_for_all_gpus(rule)) {
            narrowed.push_back(rule);
            continue;
        }
        changed = true;
        std::vector<std::int64_t> minors(kept.begin(), kept.end());
        minors.insert(minors.end(), kControl.begin(), kControl.end());
        for (const std::int64_t minor : minors) {
            Json one = rule;
            one["type"] = "c";
            one["minor"] = minor;
            narrowed.push_back(std::move(one));
        }
    }
    if (changed) config[kRules] = std::move(narrowed);
    return changed;
}

}  // namespace

std::vector<std::uint32_t> gpu_devices(const OciBundle& bundle) {
    std::set<std::uint32_t> gpus;
    for (const Json& device : list_at(bundle.config(), kDevices))
        if (const auto gpu = gpu_of_device(device)) gpus.insert(*gpu);
    for (const Json& mount : list_at(bundle.config(), kMounts))
        if (const auto gpu = gpu_of_mount(mount)) gpus.insert(*gpu);
    return {gpus.begin(), gpus.end()};
}

bool keep_gpu_devices(OciBundle& bundle, const std::vector<std::uint32_t>& kept) {
    const std::set<std::uint32_t> those(kept.begin(), kept.end());
    Json& config = bundle.config();
    const auto allowed_gpu = [](const Json& rule) {
        return rule.is_object() && allows(rule) ? gpu_of_device(rule) : std::nullopt;
    };
    const bool nodes = filter(config, kDevices, those, gpu_of_device);
    const bool mounts = filter(config, kMounts, those, gpu_of_mount);
    const bool rules = filter(config, kRules, those, allowed_gpu);
    return narrow_rules(config, those) || nodes || mounts || rules;
}

}  // namespace cgpu::runtime
