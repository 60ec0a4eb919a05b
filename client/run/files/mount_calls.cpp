#include "client/run/files/mount_calls.hpp"

#include <cstdint>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The names of the kernel's linux/mount.h, which can't be included beside glibc's sys/mount.h of each
// version.
namespace cgpu::client {
namespace {

constexpr unsigned kOpenTreeClone = 1;
constexpr unsigned kOpenTreeCloexec = O_CLOEXEC;
constexpr unsigned kRecursive = 0x8000;
constexpr unsigned kMoveFromEmptyPath = 0x4;
constexpr unsigned kMoveToEmptyPath = 0x40;
constexpr unsigned kFsopenCloexec = 1;
constexpr unsigned kFsmountCloexec = 1;
constexpr unsigned kFsconfigSetString = 1;
constexpr unsigned kFsconfigCreate = 6;
constexpr unsigned kReadOnly = 0x1;
constexpr unsigned kNoSuid = 0x2;
constexpr unsigned kNoDevices = 0x4;

/// struct mount_attr, as Linux 5.12 has it.
struct MountAttributes {
    std::uint64_t set = 0;
    std::uint64_t clear = 0;
    std::uint64_t propagation = 0;
    std::uint64_t user_namespace = 0;
};
#ifdef __NR_mount_setattr
constexpr long kMountSetattr = __NR_mount_setattr;
#else  // kernel headers before 5.12
constexpr long kMountSetattr = 442;
#endif

}  // namespace

Descriptor copy_mount(const Descriptor& place, Below below) {
    const unsigned flags = AT_EMPTY_PATH | kOpenTreeClone | kOpenTreeCloexec;
    const unsigned recursive = below == Below::included ? kRecursive : 0;
    return Descriptor(static_cast<int>(syscall(__NR_open_tree, place.fd(), "", flags | recursive)));
}

bool attach_mount(const Descriptor& mount, const Descriptor& place) {
    return syscall(__NR_move_mount, mount.fd(), "", place.fd(), "", kMoveFromEmptyPath | kMoveToEmptyPath) ==
           0;
}

bool make_mount_read_only(const Descriptor& mount) {
    const MountAttributes wanted{kReadOnly | kNoSuid | kNoDevices, 0, 0, 0};
    return syscall(kMountSetattr, mount.fd(), "", AT_EMPTY_PATH, &wanted, sizeof wanted) == 0;
}

Descriptor new_tmpfs() {
    const Descriptor system(static_cast<int>(syscall(__NR_fsopen, "tmpfs", kFsopenCloexec)));
    const auto set = [&system](const char* key, const char* value) {
        return system && syscall(__NR_fsconfig, system.fd(), kFsconfigSetString, key, value, 0) == 0;
    };
    if (!set("source", "cgpu") || !set("mode", "0755") || !set("size", "64m") ||
        syscall(__NR_fsconfig, system.fd(), kFsconfigCreate, nullptr, nullptr, 0) != 0)
        return Descriptor();
    return Descriptor(
        static_cast<int>(syscall(__NR_fsmount, system.fd(), kFsmountCloexec, kNoSuid | kNoDevices)));
}

}  // namespace cgpu::client
