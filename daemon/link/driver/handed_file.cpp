#include "daemon/link/driver/handed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/elf/shared_object.hpp"

namespace cgpu::link {
namespace {

/// Nobody can change the memory any more.
constexpr int kSealsOfACopy = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

bool is_sealed_memory(int fd) {
    const int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & kSealsOfACopy) == kSealsOfACopy;
}

bool is_served_by_a_process(int fd) {
    struct statfs system {};
    constexpr long kFuse = 0x65735546;  // FUSE_SUPER_MAGIC, which the kernel's headers have from 5.11 on
    return fstatfs(fd, &system) != 0 || system.f_type == kFuse;
}

/// The place that the path names, without following a link on the way. openat2(2) would do it in one call,
/// but RestrictSUIDSGID= of the unit denies it: a filter of system calls can't see its flags.
Descriptor find_place(std::string_view path) {
    if (!path.starts_with('/')) return Descriptor();
    Descriptor place(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    while (place && !path.empty()) {
        path.remove_prefix(1);  // a slash
        const std::string name(path.substr(0, path.find('/')));
        path.remove_prefix(name.size());
        if (name.empty() || name == "..") return Descriptor();
        place = Descriptor(openat(place.fd(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    }
    return place;
}

}  // namespace

std::optional<std::string> why_not_a_library(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return "it is no file";
    // A descriptor that is open for writing would let the instance change the driver of others.
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || (flags & O_PATH) != 0)
        return "it was not opened for reading alone";
    const elf::ReadAt reader = [fd](std::uint64_t offset, std::span<std::byte> to) {
        return pread(fd, to.data(), to.size(), static_cast<off_t>(offset)) == static_cast<ssize_t>(to.size());
    };
    return elf::why_not_loadable(reader, static_cast<std::uint64_t>(status.st_size));
}

Descriptor open_on_host(const std::string& path, std::uint64_t device, std::uint64_t inode) {
    const Descriptor there = find_place(path);
    struct stat status {};
    if (!there || fstat(there.fd(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_dev != device ||
        status.st_ino != inode)
        return Descriptor();
    const auto same = "/proc/thread-self/fd/" + std::to_string(there.fd());
    // Its owner may have a lease on it: then it isn't taken, instead of waited for.
    return Descriptor(open(same.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::optional<std::string> why_not_kept(Descriptor& file, const std::string& path) {
    if (is_sealed_memory(file.fd())) return std::nullopt;
    struct stat status {};
    if (fstat(file.fd(), &status) != 0) return "it is no file";
    auto there = open_on_host(path, status.st_dev, status.st_ino);
    if (!there || is_served_by_a_process(there.fd()))
        return "it isn't one of the host, and cgpud keeps no other file of a user";
    file = std::move(there);
    return std::nullopt;
}

}  // namespace cgpu::link
