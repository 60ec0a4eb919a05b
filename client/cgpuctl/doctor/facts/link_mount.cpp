#include "client/cgpuctl/doctor/facts/link_mount.hpp"

#include <sstream>

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr std::string_view kInstances = "/instances/";
constexpr std::string_view kLink = "/run/cgpu/link";

}  // namespace

std::optional<std::string> instance_of_link(std::string_view mountinfo) {
    // Most processes have none, and the text may be long.
    if (mountinfo.find(kLink) == std::string_view::npos) return std::nullopt;
    std::istringstream lines{std::string(mountinfo)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string number;
        std::string folder;
        std::string point;
        words >> number >> number >> number >> folder >> point;
        const auto at = folder.rfind(kInstances);
        if (point != kLink || at == std::string::npos) continue;
        const std::string rest = folder.substr(at + kInstances.size());
        // The kernel marks a folder that was deleted: ID//deleted.
        return rest.substr(0, rest.find('/'));
    }
    return std::nullopt;
}

}  // namespace cgpu::cgpuctl::doctor
