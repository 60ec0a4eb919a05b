#pragma once

#include <cstdint>
#include <string>

namespace simgpu {

/// A descriptor of the device file for OFD locks. They belong to the open file, not to a process, work across
/// pid namespaces, and end with the last descriptor or mapping of it.
class FileLock {
  public:
    FileLock() = default;
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    /// Opens `path` again. @return errno, 0 on success.
    int open(const std::string& path);
    void close();
    int descriptor() const { return descriptor_; }

    /// Waits for the byte's lock. A descriptor that the program has closed is opened again.
    /// @return whether the lock is held now.
    bool lock(std::int64_t byte);
    bool try_lock(std::int64_t byte);
    void unlock(std::int64_t byte);
    /// Whether another open file holds the byte's lock.
    bool is_held_elsewhere(std::int64_t byte);

  private:
    bool set(std::int64_t byte, int type, int command);

    std::string path_;
    int descriptor_ = -1;
};

}  // namespace simgpu
