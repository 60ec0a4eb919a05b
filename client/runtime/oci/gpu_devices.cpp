#include "client/runtime/oci/gpu_devices.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

/// The major number of NVIDIA's devices (Linux, Documentation/admin-guide/devices.txt).
constexpr std::int64_t kMajor = 195;
/// Minor numbers of that major number that aren't GPUs: nvidia-modeset and nvidiactl.
constexpr std::array<std::int64_t, 2> kControl = {254, 255};
constexpr std::string_view kNode = "/dev/nvidia";
constexpr std::string_view kDriver = "libcuda.so";
constexpr const char* kAdministration = "CAP_SYS_ADMIN";

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
    const auto major = number_of(device, "major");
    const auto minor = number_of(device, "minor");
    if (!major || !minor || text_of(device, "type") == "b") return std::nullopt;
    return gpu_of_numbers(*major, *minor);
}

/// By the numbers of what is mounted, or by the driver's name for it.
std::optional<std::uint32_t> gpu_of_mount(const Json& mount, const DeviceAt& device_at) {
    const std::string source = text_of(mount, "source");
    if (source.empty() || source.front() != '/') return std::nullopt;
    if (const auto device = device_at(source))
        if (const auto gpu = gpu_of_numbers(device->major, device->minor)) return gpu;
    if (!source.starts_with(kNode)) return std::nullopt;
    const auto minor = request::to_number(std::string_view(source).substr(kNode.size()));
    if (!minor || *minor >= static_cast<std::uint64_t>(kControl.front())) return std::nullopt;
    return static_cast<std::uint32_t>(*minor);
}

bool is_control_mount(const Json& mount, const DeviceAt& device_at) {
    const std::string source = text_of(mount, "source");
    const auto device = source.starts_with('/') ? device_at(source) : std::nullopt;
    return device && device->major == kMajor && !gpu_of_numbers(device->major, device->minor);
}

bool is_driver_mount(const Json& mount) {
    for (const char* end : {"source", "destination"})
        if (std::filesystem::path(text_of(mount, end)).filename().native().starts_with(kDriver)) return true;
    return false;
}

/// What of reading and writing a rule is about. A rule that doesn't say it is about all.
struct Permissions {
    bool read = false;
    bool write = false;
};
Permissions permissions_of(const Json& rule) {
    const std::string access = text_of(rule, "access");
    return {access.empty() || access.find('r') != std::string::npos,
            access.empty() || access.find('w') != std::string::npos};
}

/// A missing number is for all numbers; engines write it also as -1.
bool matches(const Json& rule, const char* name, std::int64_t number) {
    const auto said = number_of(rule, name);
    return !said || *said < 0 || *said == number;
}

/// Whether the rules let a GPU with this minor number be opened: the last one that matches decides.
bool opens(const Json& rules, std::int64_t minor) {
    Permissions now;
    for (const Json& rule : rules) {
        if (!rule.is_object() || text_of(rule, "type") == "b" || !matches(rule, "major", kMajor) ||
            !matches(rule, "minor", minor))
            continue;
        const auto allow = rule.find("allow");
        const bool allows = allow != rule.end() && *allow == true;
        const Permissions about = permissions_of(rule);
        if (about.read) now.read = allows;
        if (about.write) now.write = allows;
    }
    return now.read || now.write;
}

/// A minor number that no rule names.
std::int64_t unnamed_minor(const Json& rules) {
    std::set<std::int64_t> named;
    for (const Json& rule : rules)
        if (const auto minor = number_of(rule, "minor")) named.insert(*minor);
    std::int64_t minor = 0;
    while (named.contains(minor)) ++minor;
    return minor;
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

std::optional<std::uint32_t> gpu_of_numbers(std::int64_t major, std::int64_t minor) {
    if (major != kMajor || minor < 0 || minor >= kControl.front()) return std::nullopt;
    return static_cast<std::uint32_t>(minor);
}

std::optional<DeviceNumbers> character_device_at(const std::string& path) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0 || !S_ISCHR(info.st_mode)) return std::nullopt;
    return DeviceNumbers{major(info.st_rdev), minor(info.st_rdev)};
}

std::set<std::uint32_t> GpuAccess::gpus() const {
    std::set<std::uint32_t> both = nodes;
    both.insert(rules.begin(), rules.end());
    return both;
}

GpuAccess gpu_access(const OciBundle& bundle, const DeviceAt& device_at) {
    GpuAccess access;
    for (const Json& device : list_at(bundle.config(), kDevices)) {
        if (const auto gpu = gpu_of_device(device))
            access.nodes.insert(*gpu);
        else if (number_of(device, "major") == kMajor && text_of(device, "type") != "b")
            access.control = true;
    }
    for (const Json& mount : list_at(bundle.config(), kMounts)) {
        if (const auto gpu = gpu_of_mount(mount, device_at)) access.nodes.insert(*gpu);
        access.control = access.control || is_control_mount(mount, device_at);
        access.driver = access.driver || is_driver_mount(mount);
    }
    const Json rules = list_at(bundle.config(), kRules);
    access.all_by_rule = opens(rules, unnamed_minor(rules));
    for (const Json& rule : rules)
        if (const auto minor = number_of(rule, "minor"))
            if (const auto gpu = gpu_of_numbers(kMajor, *minor); gpu && opens(rules, *minor))
                access.rules.insert(*gpu);
    return access;
}

std::vector<std::uint32_t> gpu_devices(const OciBundle& bundle, const DeviceAt& device_at) {
    const auto nodes = gpu_access(bundle, device_at).nodes;
    return {nodes.begin(), nodes.end()};
}

bool keep_gpu_devices(OciBundle& bundle, const std::vector<std::uint32_t>& kept, const DeviceAt& device_at) {
    const std::set<std::uint32_t> those(kept.begin(), kept.end());
    Json& config = bundle.config();
    const auto allowed_gpu = [](const Json& rule) {
        return rule.is_object() && allows(rule) ? gpu_of_device(rule) : std::nullopt;
    };
    const auto mounted_gpu = [&](const Json& mount) { return gpu_of_mount(mount, device_at); };
    const bool nodes = filter(config, kDevices, those, gpu_of_device);
    const bool mounts = filter(config, kMounts, those, mounted_gpu);
    const bool rules = filter(config, kRules, those, allowed_gpu);
    return narrow_rules(config, those) || nodes || mounts || rules;
}

bool is_privileged(const OciBundle& bundle) {
    const Json bounding = list_at(bundle.config(), Json::json_pointer("/process/capabilities/bounding"));
    return std::find(bounding.begin(), bounding.end(), kAdministration) != bounding.end();
}

Result<void> keep_granted_gpus(OciBundle& bundle, const std::vector<std::uint32_t>& granted,
                               const DeviceAt& device_at) {
    keep_gpu_devices(bundle, granted, device_at);
    const GpuAccess left = gpu_access(bundle, device_at);
    const bool others = std::any_of(left.rules.begin(), left.rules.end(), [&](std::uint32_t minor) {
        return std::find(granted.begin(), granted.end(), minor) == granted.end();
    });
    if ((!left.all_by_rule && !others) || is_privileged(bundle)) return {};
    return client::fail(client::ClientError::Kind::refused,
                        "the container: a rule of its device cgroup opens GPUs of which it was granted no "
                        "part. Try: name the major numbers of the devices that it needs "
                        "(--device-cgroup-rule).");
}

}  // namespace cgpu::runtime
