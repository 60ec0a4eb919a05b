#include "client/runtime/oci/nvidia_volumes.hpp"

#include <filesystem>
#include <string_view>

#include "client/runtime/oci/json_file.hpp"

namespace cgpu::runtime {
namespace {

constexpr std::string_view kPlace = "/var/run/nvidia-container-devices";
constexpr std::string_view kOtherKind = "imex/";
const Json::json_pointer kMounts("/mounts");

bool names_gpus(const Json& mount) {
    if (!mount.is_object()) return false;
    namespace fs = std::filesystem;
    const std::string destination = fs::path(text_at(mount, "/destination")).lexically_normal().native();
    if (!destination.starts_with(kPlace)) return false;
    if (fs::path(text_at(mount, "/source")).lexically_normal() != "/dev/null") return false;
    std::string_view name = std::string_view(destination).substr(kPlace.size());
    while (name.starts_with('/')) name.remove_prefix(1);
    return !name.empty() && !name.starts_with(kOtherKind);
}

Json volume_of(const std::string& gpu) {
    return {{"destination", std::string(kPlace) + "/" + gpu},
            {"type", "bind"},
            {"source", "/dev/null"},
            {"options", {"rbind", "ro"}}};
}

}  // namespace

bool replace_gpu_volumes(OciBundle& bundle, const std::vector<std::string>& gpus) {
    const Json all = list_at(bundle.config(), kMounts);
    Json kept = Json::array();
    for (const Json& mount : all)
        if (!names_gpus(mount)) kept.push_back(mount);
    if (kept.size() == all.size()) return false;
    for (const std::string& gpu : gpus) kept.push_back(volume_of(gpu));
    bundle.config()[kMounts] = std::move(kept);
    return true;
}

}  // namespace cgpu::runtime
