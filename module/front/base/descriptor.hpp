#pragma once

#include <sys/types.h>

namespace cgpu::front {

/// A file descriptor in a process that isn't ours: the program may close it and open something else under its
/// number at any time. So it is kept far from the numbers that programs count through, closed on exec, and
/// its identity (device and inode) is checked before every use.
class Descriptor {
  public:
    constexpr Descriptor() = default;

    /// Takes over a descriptor: moves it to a high number where the process's limit allows that, and away
    /// from the standard ones in any case.
    static Descriptor adopt(int fd);

    /// The number, or -1 where it is no longer the file it was.
    int usable() const;
    /// Closes it if it is still ours. The object holds nothing afterwards.
    void close();

  private:
    int fd_ = -1;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace cgpu::front
