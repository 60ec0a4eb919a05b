#include "client/run/files/inherited.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/run/files/root.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {
namespace {

std::optional<FileId> id_of(int fd) {
    struct stat info {};
    if (fstat(fd, &info) != 0) return std::nullopt;
    return FileId{info.st_dev, info.st_ino};
}

/// Files are looked up with another user's rights while it lives.
class LookUpAs {
  public:
    LookUpAs(uid_t user, gid_t group) {
        setfsgid(group);
        setfsuid(user);
    }
    ~LookUpAs() {
        setfsuid(geteuid());
        setfsgid(getegid());
    }
    LookUpAs(const LookUpAs&) = delete;
    LookUpAs& operator=(const LookUpAs&) = delete;
};

class Inherited {
  public:
    Inherited(Root root, uid_t user, gid_t group) : root_(std::move(root)), user_(user), group_(group) {}

    /// The folder that is open as `link` (in /proc/self), by its path from this process's root. Empty if that
    /// path leads to another one. No part of the path may be a link: the user can have put there one that
    /// leads out of the mount namespace, by /proc/PID/cwd.
    [[nodiscard]] Descriptor again(const std::string& link, const FileId& id, int flags) const {
        std::array<char, PATH_MAX> text{};
        const ssize_t length = readlink(link.c_str(), text.data(), text.size());
        if (length <= 0) return Descriptor();
        const std::string path(text.data(), static_cast<std::size_t>(length));
        Descriptor found = by_user(path, flags);
        if (!found && getuid() == 0) found = root_.find_real(path, flags);
        return found && id_of(found.fd()) == id ? std::move(found) : Descriptor();
    }

  private:
    [[nodiscard]] Descriptor by_user(const std::string& path, int flags) const {
        const LookUpAs rights(user_, group_);
        return root_.find_real(path, flags);
    }

    Root root_;
    uid_t user_;
    gid_t group_;
};

std::optional<std::vector<int>> descriptors_here() {
    DIR* const listing = opendir("/proc/self/fd");
    if (listing == nullptr) return std::nullopt;
    std::vector<int> descriptors;
    while (const dirent* entry = readdir(listing)) {
        const std::string_view name = entry->d_name;
        int fd = -1;
        const auto read = std::from_chars(name.data(), name.data() + name.size(), fd);
        if (read.ec == std::errc{} && fd != dirfd(listing)) descriptors.push_back(fd);
    }
    closedir(listing);
    return descriptors;
}

void give_up(int fd) {
    const Descriptor null(fd > STDERR_FILENO ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null || dup2(null.fd(), fd) < 0) close(fd);
}

/// Whether it leads into the mounts or users of another namespace, which setns(2) enters.
bool is_way_out(int fd) {
    struct statfs system {};
    constexpr long kNamespaces = 0x6e736673;  // NSFS_MAGIC
    if (fstatfs(fd, &system) != 0 || system.f_type != kNamespaces) return false;
    const int kind = ioctl(fd, NS_GET_NSTYPE);
    return kind == CLONE_NEWNS || kind == CLONE_NEWUSER;
}

void settle(int fd, const std::vector<FileId>& closed, const Inherited& inherited) {
    // The others are closed when the command is executed.
    const int of_descriptor = fcntl(fd, F_GETFD);
    struct stat info {};
    if (of_descriptor < 0 || (of_descriptor & FD_CLOEXEC) != 0 || fstat(fd, &info) != 0) return;
    const FileId id{info.st_dev, info.st_ino};
    if (!S_ISDIR(info.st_mode)) {
        if (is_way_out(fd) || std::ranges::find(closed, id) != closed.end()) give_up(fd);
        return;
    }
    const int flags = (fcntl(fd, F_GETFL) & O_PATH) | O_DIRECTORY;
    const Descriptor found = inherited.again("/proc/self/fd/" + std::to_string(fd), id, flags);
    if (!found || dup2(found.fd(), fd) < 0) give_up(fd);
}

}  // namespace

Result<void> settle_inherited(const std::vector<FileId>& closed, uid_t user, gid_t group) {
    auto root = Root::open("/");
    if (!root) return tl::unexpected(root.error());
    const Inherited inherited(std::move(*root), user, group);
    const auto descriptors = descriptors_here();
    if (!descriptors)
        return fail(ClientError::Kind::failed,
                    std::string("/proc/self/fd: ") + std::strerror(errno) + ". Try: mount /proc.");
    for (const int fd : *descriptors) settle(fd, closed, inherited);

    constexpr const char* kWorkingFolder = "/proc/self/cwd";
    constexpr int kFolder = O_PATH | O_DIRECTORY;
    const Descriptor here(open(kWorkingFolder, kFolder | O_CLOEXEC));
    const auto id = here ? id_of(here.fd()) : std::nullopt;
    const Descriptor found = id ? inherited.again(kWorkingFolder, *id, kFolder) : Descriptor();
    if (!found || fchdir(found.fd()) != 0)
        return fail(
            ClientError::Kind::refused,
            "the working folder: it was removed, or can't be reached by its path, so the job's mounts "
            "would not hold in it. Try: cd /, then run the command again.");
    return {};
}

}  // namespace cgpu::client
