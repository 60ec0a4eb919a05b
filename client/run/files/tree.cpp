#include "client/run/files/tree.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "client/run/files/mount_calls.hpp"
#include "client/run/files/mount_table.hpp"
#include "client/run/files/root.hpp"

namespace cgpu::client {

std::optional<MountPlace> mount_place(const Descriptor& file) {
    struct statx info {};
    if (statx(file.fd(), "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0) return std::nullopt;
    return MountPlace{info.stx_mnt_id, (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0};
}

tl::unexpected<ClientError> mount_failed(const std::string& what, int error) {
    const std::string remedy = error == EPERM
                                   ? "run it as root, outside containers"
                                   : "check whether the paths exist and the kernel is 5.10 or newer";
    return fail(ClientError::Kind::failed, what + ": " + std::strerror(error) + ". Try: " + remedy + ".");
}

Result<void> keep_in_namespace(const Descriptor& target, const std::string& name) {
    const auto place = mount_place(target);
    if (!place) return mount_failed("keeping " + name + " to the container", errno);
    const auto mounts = mounts_here();
    if (!mounts) return tl::unexpected(mounts.error());
    for (const Mount& mounted : *mounts) {
        if (mounted.id != place->mount) continue;
        if (!mounted.shared) return {};
        // Propagation can only be set at a mount's root. By now the path may lead to another file, or to a
        // mount over it.
        const Descriptor top(open(mounted.point.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        const auto found = top ? mount_place(top) : std::nullopt;
        if (!found || found->mount != place->mount || !found->is_root)
            return fail(
                ClientError::Kind::refused,
                name +
                    ": it lies on a mount that is shared with the host and can't be reached, so what is "
                    "mounted there would appear on the host. Try: mount that volume without rshared.");
        if (mount(nullptr, by_descriptor(top).c_str(), nullptr, MS_SLAVE, nullptr) != 0)
            return mount_failed("keeping " + name + " to the container", errno);
        return {};
    }
    return mount_failed("keeping " + name + " to the container: its mount is not listed", ENOENT);
}

Result<void> take_off_binds(const std::string& path, const Root& root) {
    // Several mounts may be stacked; a few are normal.
    for (int i = 0; i < 16; ++i) {
        const Descriptor file = root.find_real(path, O_PATH | O_NOFOLLOW);
        const auto place = file ? mount_place(file) : std::nullopt;
        if (!place || !place->is_root) return {};
        // Unmounting from a shared mount propagates to the others.
        const std::string folder = std::filesystem::path(path).parent_path().native();
        const Descriptor below = root.find(folder, O_PATH | O_DIRECTORY);
        if (!below) return mount_failed("finding " + folder, errno);
        if (auto kept = keep_in_namespace(below, folder); !kept) return kept;
        // Refused for mounts that a user namespace has inherited.
        if (umount2(by_descriptor(file).c_str(), MNT_DETACH) != 0) return {};
    }
    return {};
}

Result<Tree> Tree::take(const Descriptor& what, const std::string& name) {
    // The caller's open may have failed: its errno is the reason then.
    if (!what) return mount_failed("taking " + name, errno);
    Descriptor fd = copy_mount(what);
    if (!fd) return mount_failed("taking " + name, errno);
    return Tree(std::move(fd));
}

bool Tree::is_folder() const {
    struct stat info {};
    return fstat(fd_.fd(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<void> Tree::attach(const Descriptor& target, const std::string& name) const {
    if (!target) return mount_failed("mounting over " + name, errno);
    if (auto kept = keep_in_namespace(target, name); !kept) return kept;
    if (!attach_mount(fd_, target)) return mount_failed("mounting over " + name, errno);
    // A clone of a shared mount shares later mounts with it.
    if (mount(nullptr, by_descriptor(fd_).c_str(), nullptr, MS_PRIVATE, nullptr) != 0)
        return mount_failed("keeping " + name + " to the container", errno);
    constexpr unsigned long kFlags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (mount(nullptr, by_descriptor(fd_).c_str(), nullptr, kFlags, nullptr) != 0)
        return mount_failed("making " + name + " read-only", errno);
    return {};
}

}  // namespace cgpu::client
