#include "client/run/tree.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "client/run/root.hpp"

namespace cgpu::client {

tl::unexpected<ClientError> mount_failed(const std::string& what, int error) {
    const std::string remedy = error == EPERM ? "as root and outside of containers"
                                              : "whether the paths are there and the kernel is 5.10 or newer";
    return fail(ClientError::Kind::failed, what + ": " + std::strerror(error) + ". Try: " + remedy + ".");
}

Result<Tree> Tree::take(const Descriptor& what, const std::string& name) {
    // The caller's open may have failed: its errno is the reason then.
    if (!what) return mount_failed("taking " + name, errno);
    Descriptor fd(open_tree(what.get(), "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    if (!fd) return mount_failed("taking " + name, errno);
    return Tree(std::move(fd));
}

bool Tree::is_folder() const {
    struct stat info {};
    return fstat(fd_.get(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<void> Tree::attach(const Descriptor& target, const std::string& name) const {
    if (!target ||
        move_mount(fd_.get(), "", target.get(), "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
        return mount_failed("mounting over " + name, errno);
    constexpr unsigned long kFlags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (mount(nullptr, by_descriptor(fd_).c_str(), nullptr, kFlags, nullptr) != 0)
        return mount_failed("making " + name + " read-only", errno);
    return {};
}

}  // namespace cgpu::client
