#include "client/cgpuctl/doctor/facts/link_mount.hpp"

#include "files/mount_line.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr std::string_view kInstances = "/instances/";
constexpr std::string_view kLink = "/run/cgpu/link";

}  // namespace

std::optional<std::string> instance_of_link(std::string_view mountinfo) {
    // Most processes have none, and the text may be long.
    if (mountinfo.find(kLink) == std::string_view::npos) return std::nullopt;
    while (const auto mount = files::take_mount(mountinfo)) {
        const auto at = mount->root.rfind(kInstances);
        if (mount->point != kLink || at == std::string_view::npos) continue;
        const auto rest = mount->root.substr(at + kInstances.size());
        // The kernel marks a folder that was deleted: ID//deleted.
        return std::string(rest.substr(0, rest.find('/')));
    }
    return std::nullopt;
}

}  // namespace cgpu::cgpuctl::doctor
