#pragma once

#include <sys/types.h>

namespace cgpu::front {

/// A file descriptor in a process that isn't ours: the program may close it and open another file under its
/// number at any time. So it is kept far from the low numbers that programs use, closed on exec, and its
/// identity (device and inode) is checked before every use.
class Descriptor {
  public:
    constexpr Descriptor() = default;

    /// Takes over a descriptor: moves it to a high number if the process's limit allows that, and away from
    /// the standard descriptors in any case.
    static Descriptor adopt(int fd);

    /// The number, or -1 if it no longer refers to the same file.
    int usable() const;
    /// Closes it if it is still ours. The object is empty afterwards.
    void close();

  private:
    int fd_ = -1;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace cgpu::front
