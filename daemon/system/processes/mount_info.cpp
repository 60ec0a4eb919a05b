#include "daemon/system/processes/mount_info.hpp"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/wire/limits.hpp"
#include "files/mount_line.hpp"

namespace cgpu::system {
namespace {

// A user with namespaces of its own can mount what and as often as it likes. Beyond these bounds a text isn't
// judged: each look takes some milliseconds at most.
constexpr std::size_t kMostMounts = 4096;
constexpr std::size_t kMostFronts = 8;  ///< some libraries, each by some paths
constexpr int kMostSteps = 32;          ///< mounts on the way to a path

/// `MAJOR:MINOR`; nothing where it is something else.
std::optional<dev_t> device_in(std::string_view word) {
    unsigned numbers[2] = {};
    const char* at = word.data();
    const char* const end = word.data() + word.size();
    for (auto& number : numbers) {
        const auto [next, error] = std::from_chars(at, end, number);
        const bool last = &number == &numbers[1];
        if (error != std::errc() || (last ? next != end : next == end || *next != ':')) return std::nullopt;
        at = next + (last ? 0 : 1);
    }
    return makedev(numbers[0], numbers[1]);
}

using Mount = files::MountLine;

std::vector<Mount> mounts_in(std::string_view mountinfo) {
    std::vector<Mount> found;
    while (const auto mount = files::take_mount(mountinfo)) found.push_back(*mount);
    return found;
}

bool leads_to(std::string_view point, std::string_view path) {
    return point == "/" ||
           (path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/'));
}

/// Mounts by the mount on which they are. A user can make thousands, so a path is followed through the mounts
/// on its way only: each mount is on one other, so a whole way looks at each mount once at most.
class MountTree {
  public:
    explicit MountTree(const std::vector<Mount>& mounts) {
        std::unordered_set<std::string_view> ids;
        for (const auto& mount : mounts) ids.insert(mount.id);
        for (const auto& mount : mounts) {
            const bool is_top = mount.parent == mount.id || !ids.contains(mount.parent);
            (is_top ? tops_ : on_[mount.parent]).push_back(&mount);
        }
    }

    /// The mount in which a path without links ends: from the root, always the next mount on the way, as the
    /// kernel goes. Null: that of the process's root, which needn't be a mount.
    [[nodiscard]] const Mount* at(std::string_view path) const {
        const Mount* at = nullptr;
        const auto* candidates = &tops_;
        for (int i = 0; i < kMostSteps; ++i) {
            const Mount* next = nullptr;
            for (const auto* mount : *candidates)
                if (leads_to(mount->point, path) &&
                    (next == nullptr || mount->point.size() < next->point.size()))
                    next = mount;
            if (next == nullptr) break;
            at = next;
            const auto on_it = on_.find(at->id);
            if (on_it == on_.end()) break;
            candidates = &on_it->second;
        }
        return at;
    }

  private:
    std::vector<const Mount*> tops_;  ///< those that are on none that the process sees
    std::unordered_map<std::string_view, std::vector<const Mount*>> on_;
};

/// By its place among the files that are made for an instance (client/run/mounts).
bool is_front(const Mount& mount) { return mount.root.starts_with("/front/lib"); }

bool is_link(const Mount& mount) {
    return mount.root.find("/instances/") != std::string_view::npos &&
           mount.root.find("/link") != std::string_view::npos;
}

}  // namespace

std::vector<MountedFolder> mounted_folders(std::string_view mountinfo) {
    std::vector<MountedFolder> found;
    while (const auto mount = files::take_mount(mountinfo)) {
        const auto device = device_in(mount->device);
        if (device && mount->root.size() > 1) found.push_back({*device, std::string(mount->root)});
    }
    return found;
}

bool is_folder(const MountedFolder& mount, dev_t device, std::string_view folder) {
    return mount.device == device && folder.ends_with(mount.root);
}

bool mounts_folder(std::string_view mountinfo, dev_t device, std::string_view folder) {
    return std::ranges::any_of(mounted_folders(mountinfo),
                               [&](const auto& mount) { return is_folder(mount, device, folder); });
}

bool is_cut_off(std::string_view mountinfo) {
    // Most processes have none, and texts can be long.
    if (mountinfo.find(" /front/lib") == std::string_view::npos) return false;
    const auto mounts = mounts_in(mountinfo);
    if (mounts.size() > kMostMounts) return false;
    const MountTree tree(mounts);
    const auto* link = tree.at(wire::kLinkSocket);
    if (link != nullptr && is_link(*link)) return false;
    std::size_t fronts = 0;
    return std::ranges::any_of(mounts, [&](const auto& mount) {
        return is_front(mount) && ++fronts <= kMostFronts && tree.at(mount.point) == &mount;
    });
}

}  // namespace cgpu::system
