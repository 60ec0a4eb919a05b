#pragma once

#include <unistd.h>

#include <utility>

namespace cgpu::link {

/// Owns a descriptor; -1 for none.
class File {
  public:
    explicit File(int fd = -1) : fd_(fd) {}
    File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (fd_ >= 0) close(fd_);
    }

    [[nodiscard]] int fd() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_;
};

}  // namespace cgpu::link
