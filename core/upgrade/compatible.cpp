#include "core/upgrade/compatible.hpp"

#include <algorithm>

namespace cgpu::upgrade {
namespace {

std::optional<std::string> why_differ(const char* what, std::uint32_t running, std::uint32_t target) {
    if (running == target) return std::nullopt;
    return "it has version " + std::to_string(target) + " of " + what + ", and what runs has version " +
           std::to_string(running);
}

}  // namespace

std::optional<std::string> why_not_hot(const Manifest& running, const Manifest& target) {
    const auto by_version = [](const Manifest& a, const Manifest& b) { return a.version < b.version; };
    const Manifest& older = std::min(running, target, by_version);
    const Manifest& newer = std::max(running, target, by_version);
    if (older.version < newer.compatible_from)
        return newer.version.str() + " exchanges running processes with versions from " +
               newer.compatible_from.str() + " on, and " + older.version.str() + " is older";
    if (running.machine != target.machine)
        return "it is for " + target.machine + ", and what runs is for " + running.machine;
    if (auto why = why_differ("the engine's ABI", running.abi, target.abi)) return why;
    return why_differ("the shared pages", running.pages, target.pages);
}

}  // namespace cgpu::upgrade
