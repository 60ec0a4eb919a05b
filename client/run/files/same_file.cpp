#include "client/run/files/same_file.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>

namespace cgpu::client {
namespace {

/// The part of a path below a folder: empty, or with a slash in front. None: it isn't below.
std::optional<std::string> below(const std::string& folder, const std::string& path) {
    if (folder == "/") return path == "/" ? std::string() : path;
    if (!path.starts_with(folder)) return std::nullopt;
    const std::string rest = path.substr(folder.size());
    return rest.empty() || rest.starts_with('/') ? std::optional(rest) : std::nullopt;
}

std::string joined(const std::string& folder, const std::string& rest) {
    if (folder == "/") return rest.empty() ? folder : rest;
    return folder + rest;
}

const Mount* with_id(const std::vector<Mount>& mounts, std::uint64_t id) {
    const auto found = std::ranges::find(mounts, id, &Mount::id);
    return found == mounts.end() ? nullptr : &*found;
}

/// The path within the mount's file system.
std::optional<std::string> within(const Mount& mount, const std::string& path) {
    const auto rest = below(mount.point, path);
    return rest ? std::optional(joined(mount.root, *rest)) : std::nullopt;
}

}  // namespace

std::optional<FileId> id_of_file(const Descriptor& file) {
    struct stat info {};
    if (!file || fstat(file.fd(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    return FileId{info.st_dev, info.st_ino};
}

std::optional<std::uint64_t> mount_of_file(const Descriptor& file) {
    struct statx info {};
    if (!file || statx(file.fd(), "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0 ||
        (info.stx_mask & STATX_MNT_ID) == 0)
        return std::nullopt;
    return info.stx_mnt_id;
}

std::vector<std::string> other_places(const std::vector<Mount>& mounts, std::uint64_t mount,
                                      const std::string& path) {
    std::vector<std::string> places;
    const Mount* const own = with_id(mounts, mount);
    const auto inside = own != nullptr ? within(*own, path) : std::nullopt;
    if (!inside) return places;
    for (const Mount& each : mounts) {
        if (each.device != own->device) continue;
        const auto rest = below(each.root, *inside);
        if (!rest) continue;
        std::string place = joined(each.point, *rest);
        if (place != path && std::ranges::find(places, place) == places.end())
            places.push_back(std::move(place));
    }
    return places;
}

bool is_shown_at(const std::vector<Mount>& mounts, std::uint64_t mount, const std::string& path,
                 const std::string& shown) {
    const Mount* const own = with_id(mounts, mount);
    const Mount* top = nullptr;
    // Mounts are listed in the order in which they were made: of those at one point the last is uppermost.
    for (const Mount& each : mounts)
        if (below(each.point, shown) && (top == nullptr || each.point.size() >= top->point.size()))
            top = &each;
    if (own == nullptr || top == nullptr || own->device != top->device) return false;
    const auto inside = within(*own, path);
    return inside && inside == within(*top, shown);
}

}  // namespace cgpu::client
