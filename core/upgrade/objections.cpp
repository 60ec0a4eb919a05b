#include "core/upgrade/objections.hpp"

#include <algorithm>
#include <optional>

#include "core/upgrade/compatible.hpp"

namespace cgpu::upgrade {
namespace {

std::optional<std::string> objection(const Front& front, const Version& in_force, const Manifest& target,
                                     const std::vector<Manifest>& installed) {
    const Version runs = front.runs.value_or(in_force);
    if (runs == target.version) return std::nullopt;
    if (front.version < target.least_front)
        return "has front " + front.version.str() + ", and " + target.version.str() + " needs " +
               target.least_front.str();
    const auto running = std::find_if(installed.begin(), installed.end(),
                                      [&](const Manifest& manifest) { return manifest.version == runs; });
    if (running == installed.end()) return "runs " + runs.str() + ", which is not installed any more";
    if (const auto why = why_not_hot(*running, target)) return "runs " + runs.str() + ": " + *why;
    return std::nullopt;
}

}  // namespace

std::vector<std::string> objections(const Roster& roster, const Version& in_force, const Manifest& target,
                                    const std::vector<Manifest>& installed) {
    std::vector<std::string> found;
    for (const auto& [who, process] : roster.all())
        for (const auto& [id, front] : process.fronts)
            if (const auto why = objection(front, in_force, target, installed))
                found.push_back(name_of(who) + " " + *why);
    return found;
}

}  // namespace cgpu::upgrade
