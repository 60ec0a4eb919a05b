#pragma once

#include <cstdint>
#include <string>

namespace simgpu {

/// A descriptor of the device file used for OFD locks: they belong to the open file, not to a process, work
/// across pid namespaces, and end with the last descriptor or mapping of it.
class FileLock {
  public:
    FileLock() = default;
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    /// Opens `path` anew. @return errno, 0 if it worked.
    int open(const std::string& path);
    void close();
    int descriptor() const { return descriptor_; }

    /// Waits for the byte. A descriptor that the program closed behind our back is opened again.
    /// @return whether it is held now.
    bool lock(std::int64_t byte);
    bool try_lock(std::int64_t byte);
    void unlock(std::int64_t byte);
    /// Whether someone else's open file holds the byte.
    bool is_held_elsewhere(std::int64_t byte);

  private:
    bool set(std::int64_t byte, int type, int command);

    std::string path_;
    int descriptor_ = -1;
};

}  // namespace simgpu
