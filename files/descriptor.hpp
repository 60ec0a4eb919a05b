#pragma once

#include <unistd.h>

#include <utility>

namespace cgpu {

/// Owns a descriptor; -1 for none.
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }

    [[nodiscard]] int fd() const { return fd_; }
    /// Owns it no more.
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }
    /// False: what was written may not be on its way to the disk; errno says why.
    bool close() {
        const int fd = release();
        return fd < 0 || ::close(fd) == 0;
    }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_;
};

}  // namespace cgpu
