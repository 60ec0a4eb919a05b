#include "daemon/system/mounted_by.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/system/mount_info.hpp"
#include "daemon/system/proc_file.hpp"

namespace cgpu::system {
namespace {

/// The id of the first mount that the file shows; empty where it can't be read. The kernel makes no more of
/// the text than is asked for.
std::string first_mount_in(const std::string& mountinfo) {
    const int fd = open(mountinfo.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    std::array<char, 16> begin{};
    const auto got = read(fd, begin.data(), begin.size());
    close(fd);
    const std::string_view text(begin.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(text.substr(0, text.find(' ')));
}

std::vector<std::int32_t> all_pids() {
    std::vector<std::int32_t> pids;
    const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
    if (!proc) return pids;
    while (const auto* entry = readdir(proc.get())) {
        const std::string_view name(entry->d_name);
        std::int32_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
    }
    return pids;
}

}  // namespace

std::vector<std::int32_t> mounted_by(const std::filesystem::path& folder) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0) return {};
    // Most processes share their mounts with others. A mount's id is in one mount namespace only, so the
    // first one tells which of them show the same, and the whole text is read once for these.
    std::map<std::string, bool> known;
    std::vector<std::int32_t> pids;
    for (const auto pid : all_pids()) {
        const auto path = "/proc/" + std::to_string(pid) + "/mountinfo";
        const auto first_mount = first_mount_in(path);
        if (first_mount.empty()) continue;
        const auto [it, is_new] = known.try_emplace(first_mount, false);
        if (is_new) {
            const auto mounts = read_text(path);
            // Its process may have ended meanwhile; the next one with these mounts is looked at then.
            if (!mounts || mounts->empty()) {
                known.erase(it);
                continue;
            }
            it->second = mounts_folder(*mounts, status.st_dev, folder.native());
        }
        if (it->second) pids.push_back(pid);
    }
    return pids;
}

}  // namespace cgpu::system
