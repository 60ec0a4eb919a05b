#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/app/compute/doorbell_wait.hpp"
#include "daemon/app/ports/pages.hpp"

namespace cgpu::app {

/// A doorbell and the value last read from it.
struct HeardDoorbell {
    std::shared_ptr<const InstanceDoorbell> doorbell;
    std::uint32_t heard = 0;
};

/// Helper thread that waits on doorbells for the slicer: futex_waitv accepts 128 words, so the slicer itself
/// can't wait on more than 127. When a doorbell fires, the helper removes it from its set and returns it to
/// the slicer. It doesn't wait on it again until the slicer hands it back, so a noisy tenant cannot keep a
/// helper busy. The pages stay mapped while the helper waits on them.
class DoorbellSleeper {
  public:
    /// One of the words of a wait is the helper's own.
    static constexpr std::size_t kMost = DoorbellWait::kMostWords - 1;

    /// `word`: changed and woken when a doorbell is returned. Throws std::system_error where no thread can be
    /// created.
    explicit DoorbellSleeper(std::atomic<std::uint32_t>& word);
    ~DoorbellSleeper();
    DoorbellSleeper(const DoorbellSleeper&) = delete;
    DoorbellSleeper& operator=(const DoorbellSleeper&) = delete;

    /// Replaces the set of doorbells by these, at most kMost. A doorbell whose value differs from the one
    /// last read is returned at once. Doesn't wait for the helper.
    void keep(std::vector<HeardDoorbell> doorbells);
    /// The doorbells returned since the last call. Costs a read of one word where there are none.
    [[nodiscard]] std::vector<std::shared_ptr<const InstanceDoorbell>> take_back();

    /// How often the helper has been woken so far.
    [[nodiscard]] std::uint64_t wakes() const { return wakes_.load(std::memory_order_relaxed); }

  private:
    void run();
    bool take_orders();
    void hand_back(std::optional<std::size_t> woken_by);

    std::atomic<std::uint32_t>& word_;
    std::atomic<std::uint32_t> orders_{0};  ///< changes with each of them
    std::atomic<bool> some_back_{false};
    std::atomic<std::uint64_t> wakes_{0};
    std::mutex mutex_;  ///< of the next three; held for no longer than it takes to move a list
    bool stop_ = false;
    std::optional<std::vector<HeardDoorbell>> next_;
    std::vector<std::shared_ptr<const InstanceDoorbell>> back_;
    std::vector<HeardDoorbell> kept_;  ///< the thread's own
    std::thread thread_;
};

}  // namespace cgpu::app
