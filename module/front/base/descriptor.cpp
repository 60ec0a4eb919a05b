#include "module/front/base/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace cgpu::front {
namespace {

constexpr int kFirstHigh = 100;
constexpr int kFirstFree = 3;  // after the standard ones

}  // namespace

Descriptor Descriptor::adopt(int fd) {
    Descriptor result;
    if (fd < 0) return result;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, kFirstHigh);
    if (high < 0 && fd < kFirstFree) high = fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree);
    if (high >= 0) {
        ::close(fd);
        fd = high;
    }
    struct stat identity {};
    if (fstat(fd, &identity) != 0) {
        ::close(fd);
        return result;
    }
    result.fd_ = fd;
    result.device_ = identity.st_dev;
    result.inode_ = identity.st_ino;
    return result;
}

int Descriptor::usable() const {
    if (fd_ < 0) return -1;
    const int kept = errno;
    struct stat identity {};
    const bool same = fstat(fd_, &identity) == 0 && identity.st_dev == device_ && identity.st_ino == inode_;
    errno = kept;
    return same ? fd_ : -1;
}

void Descriptor::close() {
    if (const int fd = usable(); fd >= 0) ::close(fd);
    *this = Descriptor{};
}

}  // namespace cgpu::front
