#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "tests/sim/device/layout/segment.hpp"

namespace simgpu {

class Holdings;
class Process;

/// A segment that this process holds while an object of it lives.
class SharedMemory {
  public:
    SharedMemory(Holdings& holdings, SegmentName name, const Segment& segment)
        : holdings_(holdings),
          name_(name),
          gpu_(segment.gpu),
          offset_(segment.offset),
          bytes_(segment.bytes) {}
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    SegmentName name() const { return name_; }
    std::uint32_t gpu() const { return gpu_; }  ///< Index in the device file, or kHostMemory.
    std::uint64_t bytes() const { return bytes_; }

    /// Puts `size` bytes from `offset` on at `address`, in place of what is mapped there.
    bool map_at(std::uint64_t address, std::uint64_t offset, std::uint64_t size) const;
    bool map_at(std::uint64_t address) const { return map_at(address, 0, bytes_); }

  private:
    Holdings& holdings_;
    SegmentName name_;
    std::uint32_t gpu_;
    std::uint64_t offset_;
    std::uint64_t bytes_;
};

using SharedMemoryPointer = std::shared_ptr<const SharedMemory>;

/// Which segments this process holds, and through how many objects.
class Holdings {
  public:
    explicit Holdings(const Process& process) : process_(process) {}

    /// A new segment, charged to this process. @return nullptr: no room.
    SharedMemoryPointer create(std::uint32_t gpu, std::uint64_t bytes);
    /// A new segment for bytes that this process has been charged for. @return nullptr: the table is full.
    SharedMemoryPointer adopt(std::uint32_t gpu, std::uint64_t bytes);
    /// @return nullptr: it has gone.
    SharedMemoryPointer open(SegmentName name);

  private:
    friend class SharedMemory;
    void release(std::uint32_t index);

    const Process& process_;
    std::mutex mutex_;
    std::map<std::uint32_t, unsigned int> references_;  ///< by index
};

}  // namespace simgpu
