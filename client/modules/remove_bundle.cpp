#include "client/modules/remove_bundle.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "client/modules/module_folder.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;
using Kind = ClientError::Kind;

/// At most this many are named in a message.
constexpr std::size_t kShownPids = 8;

std::string list_of(const std::vector<std::uint32_t>& pids) {
    std::string text;
    for (std::size_t i = 0; i < std::min(pids.size(), kShownPids); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(pids[i]);
    return pids.size() > kShownPids ? text + " and " + std::to_string(pids.size() - kShownPids) + " more"
                                    : text;
}

bool has_fronts_of(const fs::path& folder, const fs::path& links) {
    std::error_code failed;
    for (fs::directory_iterator entry(links, failed), end; !failed && entry != end; entry.increment(failed))
        if (std::error_code broken;
            fs::equivalent(fs::canonical(entry->path(), broken).parent_path(), folder, broken))
            return true;
    return false;
}

/// The reason and the remedy.
std::optional<std::string> why_kept(const Removal& removal, const fs::path& folder) {
    if (removal.in_force == removal.version.str())
        return "it is in force. Try: cgpuctl upgrade to another version first.";
    if (const auto pids = removal.users.of(removal.version); !pids.empty())
        return "processes run it: " + list_of(pids) +
               ". Try: stop them, or upgrade them first (cgpuctl upgrade --hot).";
    if (!removal.users.all_seen)
        return "some processes may not be examined, and one of them may run it. Try: run it as root, on the "
               "host.";
    if (has_fronts_of(folder, removal.fronts))
        return "it is the installed package's own, and new jobs get its fronts. Try: install another version "
               "of the "
               "package first.";
    return std::nullopt;
}

}  // namespace

Result<void> remove_bundle(const Removal& removal) {
    const auto text = "module " + removal.version.str();
    auto installed = ModuleFolder::lock(removal.modules);
    if (!installed) return tl::unexpected(installed.error());
    const fs::path folder = installed->of(removal.version);
    std::error_code none;
    if (!fs::is_directory(fs::symlink_status(folder, none)))
        return fail(Kind::not_found, text + ": it is not installed. Try: cgpuctl module list.");
    if (const auto why = why_kept(removal, folder))
        return fail(Kind::refused, text + ": not removed: " + *why);
    if (removal.dry_run) return {};
    return installed->take_away(removal.version);
}

}  // namespace cgpu::client
