#include "daemon/gpu/reader/memory_limits.hpp"

#include <sstream>

#include "daemon/gpu/reader/nvml_library.hpp"
#include "files/read.hpp"

namespace cgpu::gpu {
namespace {

using Backend = app::DriverLimits::Backend;

constexpr const char* kRoot = "/sys/fs/cgroup";
// What an administrator has made of the driver's accounts of memory by cgroup.
constexpr const char* kOff = "0";
constexpr const char* kMisc = "1";

/// Empty if it can't be read.
std::optional<std::string> text_of(const std::string& path) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    const auto text = files::read_text(path, kMost);
    return text ? std::optional(*text) : std::nullopt;
}

/// The value of RmMemacctMode; empty: the driver chooses.
std::string accounting_in(const std::string& registry) {
    constexpr std::string_view kKey = "RmMemacctMode=";
    std::istringstream entries(registry);
    std::string value;
    for (std::string entry; std::getline(entries, entry, ';');)
        if (entry.starts_with(kKey)) value = entry.substr(kKey.size());
    return value;
}

bool has_word(const std::string& text, const std::string& wanted) {
    std::istringstream words(text);
    for (std::string word; words >> word;)
        if (word == wanted) return true;
    return false;
}

app::DriverLimits none(std::string why) { return {Backend::none, std::move(why), std::nullopt}; }

}  // namespace

std::string registry_in(const std::string& params) {
    constexpr std::string_view kName = "RegistryDwords: ";
    std::istringstream lines(params);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(kName)) continue;
        std::string value = line.substr(kName.size());
        std::erase(value, '"');
        return value;
    }
    return {};
}

std::string cgroup_in(const std::string& text) {
    constexpr std::string_view kVersion2 = "0::/";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(kVersion2)) continue;
        const std::string path = line.substr(kVersion2.size());
        if (!path.empty() && !path.starts_with("..")) return std::string(kRoot) + "/" + path;
    }
    return kRoot;
}

LimitHost read_limit_host() {
    return {text_of(std::string(kRoot) + "/cgroup.controllers"),
            registry_in(text_of("/proc/driver/nvidia/params").value_or("")),
            cgroup_in(text_of("/proc/self/cgroup").value_or(""))};
}

app::DriverLimits judge_limits(const LimitHost& host, const LimitAnswer& answer) {
    if (!answer.has_function) return none("the driver can't; drivers from 615 on (CUDA 13.4) can");
    if (answer.mig) return none("the GPU is in MIG mode, in which the driver has none");
    if (!host.controllers) return none("no cgroups of version 2 are at /sys/fs/cgroup");
    const std::string accounting = accounting_in(host.registry);
    if (accounting == kOff)
        return none("the driver's accounts of memory by cgroup are switched off (RmMemacctMode=0)");
    const int code = answer.code.value_or(kNvmlSuccess);
    // A cgroup without a limit is answered by an error, and the accounts are there all the same.
    if (code != kNvmlSuccess && code != kNvmlNotSupported && code != kNvmlNotFound)
        return none("NVML says: " + answer.text);
    app::DriverLimits limits;
    limits.backend =
        has_word(*host.controllers, "dmem") && accounting != kMisc ? Backend::dmem : Backend::misc;
    if (code == kNvmlSuccess && answer.code && answer.hard != kNvmlNoLimit)
        limits.own_limit = model::Bytes(answer.hard);
    return limits;
}

}  // namespace cgpu::gpu
