#include "client/runtime/oci/nvidia_volumes.hpp"

#include <filesystem>
#include <string_view>

#include "client/runtime/oci/json_file.hpp"

namespace cgpu::runtime {
namespace {

constexpr std::string_view kPlace = "/var/run/nvidia-container-devices";
constexpr std::string_view kOtherKind = "imex/";
constexpr std::string_view kCdi = "cdi/";
const Json::json_pointer kAllMounts("/mounts");

/// Empty: the mount names none.
std::string name_in(const Json& mount) {
    if (!mount.is_object()) return {};
    namespace fs = std::filesystem;
    const std::string destination = fs::path(text_at(mount, "/destination")).lexically_normal().native();
    if (!destination.starts_with(kPlace)) return {};
    if (fs::path(text_at(mount, "/source")).lexically_normal() != "/dev/null") return {};
    std::string name = destination.substr(kPlace.size());
    name.erase(0, name.find_first_not_of('/'));
    return name.starts_with(kOtherKind) ? "" : name;
}

bool names_gpus(const Json& mount) { return !name_in(mount).empty(); }

Json volume_of(const std::string& gpu) {
    return {{"destination", std::string(kPlace) + "/" + gpu},
            {"type", "bind"},
            {"source", "/dev/null"},
            {"options", {"rbind", "ro"}}};
}

}  // namespace

std::vector<std::string> gpu_volumes(const OciBundle& bundle) {
    std::vector<std::string> names;
    for (const Json& mount : list_at(bundle.config(), kAllMounts)) {
        std::string name = name_in(mount);
        while (name.ends_with('/')) name.pop_back();
        if (name.starts_with(kCdi)) name.erase(0, name.rfind('/') + 1);
        if (!name.empty()) names.push_back(std::move(name));
    }
    return names;
}

bool replace_gpu_volumes(OciBundle& bundle, const std::vector<std::string>& gpus) {
    const Json all = list_at(bundle.config(), kAllMounts);
    Json kept = Json::array();
    for (const Json& mount : all)
        if (!names_gpus(mount)) kept.push_back(mount);
    if (kept.size() == all.size()) return false;
    for (const std::string& gpu : gpus) kept.push_back(volume_of(gpu));
    bundle.config()[kAllMounts] = std::move(kept);
    return true;
}

void add_gpu_volumes(OciBundle& bundle, const std::vector<std::string>& gpus) {
    Json all = list_at(bundle.config(), kAllMounts);
    for (const std::string& gpu : gpus) all.push_back(volume_of(gpu));
    bundle.config()[kAllMounts] = std::move(all);
}

}  // namespace cgpu::runtime
