#include "tests/sim/device/file/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace simgpu {

namespace {

/// Programs close low descriptors that are not theirs; a high number is less likely to be reused by accident.
constexpr int kLowestDescriptor = 500;

struct flock byte_range(std::int64_t byte, int type) {
    struct flock range {};
    range.l_type = static_cast<short>(type);
    range.l_whence = SEEK_SET;
    range.l_start = byte;
    range.l_len = 1;
    return range;
}

}  // namespace

FileLock::~FileLock() { close(); }

int FileLock::open(const std::string& path) {
    const int low = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (low < 0) return errno;
    const int high = fcntl(low, F_DUPFD_CLOEXEC, kLowestDescriptor);
    if (high >= 0) ::close(low);
    descriptor_ = high >= 0 ? high : low;
    path_ = path;
    return 0;
}

void FileLock::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

bool FileLock::lock(std::int64_t byte) { return set(byte, F_WRLCK, F_OFD_SETLKW); }

bool FileLock::try_lock(std::int64_t byte) { return set(byte, F_WRLCK, F_OFD_SETLK); }

void FileLock::unlock(std::int64_t byte) { set(byte, F_UNLCK, F_OFD_SETLK); }

bool FileLock::is_held_elsewhere(std::int64_t byte) {
    struct flock range = byte_range(byte, F_WRLCK);
    return fcntl(descriptor_, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

bool FileLock::set(std::int64_t byte, int type, int command) {
    struct flock range = byte_range(byte, type);
    while (fcntl(descriptor_, command, &range) != 0) {
        if (errno == EINTR) continue;
        if (errno != EBADF || type == F_UNLCK || open(path_) != 0) return false;
    }
    return true;
}

}  // namespace simgpu
