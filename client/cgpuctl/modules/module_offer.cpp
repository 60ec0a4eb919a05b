#include "client/cgpuctl/modules/module_offer.hpp"

#include <algorithm>

#include "core/upgrade/version.hpp"

namespace cgpu::cgpuctl {

std::string offer_text(const std::string& in_force, const std::vector<std::string>& installed) {
    const auto current = upgrade::Version::parse(in_force);
    if (!current) return {};
    upgrade::Version newest = *current;
    for (const std::string& version : installed)
        newest = std::max(newest, upgrade::Version::parse(version).value_or(newest));
    if (newest == *current) return {};
    const std::string version = newest.str();
    return "module " + version + " is installed, and " + in_force +
           " stays in force. Try: cgpuctl upgrade --hot " + version +
           ", or --cold while no instance is there.";
}

}  // namespace cgpu::cgpuctl
