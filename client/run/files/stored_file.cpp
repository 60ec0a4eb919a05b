#include "client/run/files/stored_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "files/read.hpp"

namespace cgpu::client {
namespace {

constexpr std::array<std::uint32_t, 10> kKernels = {
    PROC_SUPER_MAGIC,   SYSFS_MAGIC,         DEBUGFS_MAGIC, TRACEFS_MAGIC,  SECURITYFS_MAGIC,
    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,  EFIVARFS_MAGIC, PSTOREFS_MAGIC};

}  // namespace

Descriptor open_stored(const Descriptor& there) {
    struct stat info {};
    struct statfs system {};
    if (!there || fstat(there.fd(), &info) != 0 || fstatfs(there.fd(), &system) != 0) return Descriptor();
    const auto type = static_cast<std::uint32_t>(system.f_type);
    if (!S_ISREG(info.st_mode) || std::ranges::find(kKernels, type) != kKernels.end()) {
        errno = EINVAL;
        return Descriptor();
    }
    return Descriptor(open(by_descriptor(there).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::string stored_text_of(const Root& root, const std::string& path, std::size_t limit) {
    const Descriptor file = open_stored(root.find(path, O_PATH));
    return file ? files::read_up_to(file.fd(), limit).value_or("") : "";
}

}  // namespace cgpu::client
