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
    /// Makes the file with idle GPUs. @return errno, 0 if it worked.
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

    /// A GPU that has fallen off its bus: the driver counts it still and answers nothing of it.
    bool is_lost(std::uint32_t gpu) const { return (layout_->lost_gpus.load() >> gpu & 1U) != 0; }
    void lose(std::uint32_t gpu, bool lost) {
        const std::uint32_t bit = 1U << gpu;
        lost ? layout_->lost_gpus.fetch_or(bit) : layout_->lost_gpus.fetch_and(~bit);
    }
    /// The driver reports an error of a GPU. One process reports at a time.
    void report_xid(std::uint32_t gpu, std::uint64_t code) {
        const std::uint64_t number = layout_->xid_count.load();
        layout_->xids[number % kMaxXids] = {code, gpu};
        layout_->xid_count.store(number + 1);
    }
    /// A driver that was unloaded: NVML doesn't start, and what had started it learns so.
    bool driver_is_gone() const { return layout_->driver_gone.load() != 0; }
    void unload_driver(bool gone) { layout_->driver_gone = gone ? 1 : 0; }

    /// A descriptor of the device file with nothing in common with others of it. @return -1: none is left.
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

/// Holds the device lock. What a killed predecessor left half done is undone first.
class Session {
  public:
    explicit Session(Device& device);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Layout& layout() { return *device_.layout_; }
    Journal& journal() { return journal_; }
    RingTable rings() const { return device_.rings(); }
    /// Whether the living process of this slot is there (or a child that inherited from it). Not for the own
    /// slot.
    bool is_alive(std::uint32_t slot) { return device_.lock_.is_held_elsewhere(kAliveLock + slot); }

    /// Whether a descriptor of this segment is open anywhere.
    bool has_descriptors(std::uint32_t segment) {
        return device_.lock_.is_held_elsewhere(kSegmentLock + segment);
    }

    /// Adds a record to the end of the trace, as part of the change of the journal.
    void append(const TraceRecord& record);

    /// Gives the bytes of the data area back to the host; they read as 0 then.
    void forget_data(std::uint64_t offset, std::uint64_t bytes);

    /// Moves all GPUs to the present.
    void advance();

  private:
    /// Records that the lock could not be had from then on until now, if that was long.
    void note_locked(Nanoseconds since);

    Device& device_;
    Journal journal_;
};

}  // namespace simgpu
