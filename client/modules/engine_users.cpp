#include "client/modules/engine_users.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "core/upgrade/manifest.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;
using upgrade::Version;

std::optional<std::uint32_t> as_pid(const std::string& name) {
    std::uint32_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    return error == std::errc{} && end == name.data() + name.size() ? std::optional(pid) : std::nullopt;
}

/// The version of the engine that a line of maps shows. If the file was deleted, the kernel says so after its
/// name.
std::optional<Version> engine_in(std::string_view line) {
    constexpr std::string_view kGone = " (deleted)";
    if (line.ends_with(kGone)) line.remove_suffix(kGone.size());
    const auto slash = line.rfind('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string_view name = line.substr(slash + 1);
    if (!name.starts_with(upgrade::kEnginePrefix)) return std::nullopt;
    return Version::parse(name.substr(upgrade::kEnginePrefix.size()));
}

}  // namespace

std::vector<std::uint32_t> EngineUsers::of(const Version& version) const {
    const auto found = processes.find(version);
    return found == processes.end() ? std::vector<std::uint32_t>() : found->second;
}

EngineUsers find_engine_users(const std::string& proc) {
    EngineUsers users;
    std::error_code failed;
    for (fs::directory_iterator entry(proc, failed), end; !failed && entry != end; entry.increment(failed)) {
        const auto pid = as_pid(entry->path().filename());
        if (!pid) continue;
        std::ifstream maps(entry->path() / "maps");
        // A process that has just ended doesn't count as one that couldn't be examined.
        if (!maps.is_open() && (errno == EACCES || errno == EPERM)) users.all_seen = false;
        std::set<Version> mapped;
        for (std::string line; std::getline(maps, line);)
            if (const auto version = engine_in(line)) mapped.insert(*version);
        for (const Version& version : mapped) users.processes[version].push_back(*pid);
    }
    for (auto& [version, pids] : users.processes) std::sort(pids.begin(), pids.end());
    return users;
}

}  // namespace cgpu::client
