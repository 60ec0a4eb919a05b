#pragma once

#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/sim/device/file/clock.hpp"
#include "tests/sim/device/file/file_lock.hpp"
#include "tests/sim/device/file/journal.hpp"
#include "tests/sim/device/layout/layout.hpp"

namespace simgpu {

/// The shared device file, mapped. All changes go through a Session.
class Device {
  public:
    /// Makes the file with idle GPUs. @return errno, 0 on success.
    static int create(const std::string& path, const std::vector<Card>& cards);

    /// @return nothing if the file is missing or isn't a simulated device (errno says which).
    static std::unique_ptr<Device> open(const std::string& path);

    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Layout& layout() const { return *layout_; }
    std::uint32_t gpu_count() const { return layout_->gpu_count; }
    const Card& card(std::uint32_t gpu) const { return layout_->cards[gpu]; }
    RingTable rings() const;

    /// A GPU that has fallen off its bus: the driver still counts it, but reports nothing of it.
    bool is_lost(std::uint32_t gpu) const { return (layout_->lost_gpus.load() >> gpu & 1U) != 0; }
    void lose(std::uint32_t gpu, bool lost) {
        const std::uint32_t bit = 1U << gpu;
        lost ? layout_->lost_gpus.fetch_or(bit) : layout_->lost_gpus.fetch_and(~bit);
    }
    GpuMode mode(std::uint32_t gpu) const { return layout_->modes[gpu].load(); }
    void set_mode(std::uint32_t gpu, GpuMode mode) { layout_->modes[gpu] = mode; }
    /// The driver reports an error of a GPU. One process reports at a time.
    void report_xid(std::uint32_t gpu, std::uint64_t code) {
        const std::uint64_t number = layout_->xid_count.load();
        layout_->xids[number % kMaxXids] = {code, gpu};
        layout_->xid_count.store(number + 1);
    }
    /// A driver that was unloaded: NVML does not start, and its calls fail where it was started before.
    bool driver_is_gone() const { return layout_->driver_gone.load() != 0; }
    void unload_driver(bool gone) { layout_->driver_gone = gone ? 1 : 0; }

    /// @return a descriptor of the device file that shares nothing with its other descriptors; -1: none is
    /// left.
    int open_file() const;
    /// Maps bytes of the data area at `address`, in place of what is there.
    bool map_data(std::uint64_t offset, std::uint64_t bytes, std::uint64_t address) const;
    bool is_of_this_file(int descriptor) const;

    /// Before and after fork(): no thread of ours may hold the lock while the descriptor is duplicated,
    /// because a child would keep a killed parent's lock.
    void before_fork() { mutex_.lock(); }
    void after_fork_in_parent() { mutex_.unlock(); }
    void after_fork_in_child();

  private:
    friend class Session;
    Device(Layout* layout, const std::string& path, const struct stat& file)
        : path_(path), file_device_(file.st_dev), file_number_(file.st_ino), layout_(layout) {}

    std::string path_;
    dev_t file_device_;
    ino_t file_number_;
    Layout* layout_;
    FileLock lock_;
    std::mutex mutex_;
};

/// Holds the device lock. What a killed process left half done is undone first.
class Session {
  public:
    explicit Session(Device& device);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Layout& layout() { return *device_.layout_; }
    Journal& journal() { return journal_; }
    RingTable rings() const { return device_.rings(); }
    /// Whether the process of this slot lives (or a child that inherited its lock). Not for the slot of the
    /// caller.
    bool is_alive(std::uint32_t slot) { return device_.lock_.is_held_elsewhere(kAliveLock + slot); }

    /// Whether a descriptor of this segment is open anywhere.
    bool has_descriptors(std::uint32_t segment) {
        return device_.lock_.is_held_elsewhere(kSegmentLock + segment);
    }

    /// Appends a record to the trace, as part of the journal's change.
    void append(const TraceRecord& record);

    /// Returns bytes of the data area to the host; they read as 0 afterwards.
    void forget_data(std::uint64_t offset, std::uint64_t bytes);

    /// Advances all GPUs to the present.
    void advance();

  private:
    /// Records that the lock was not available from `since` until now, if that was long.
    void note_locked(Nanoseconds since);

    Device& device_;
    Journal journal_;
};

}  // namespace simgpu
