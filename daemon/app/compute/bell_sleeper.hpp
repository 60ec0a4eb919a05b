#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/app/compute/bell_wait.hpp"
#include "daemon/app/ports/pages.hpp"

namespace cgpu::app {

/// A bell and the value that was heard of it last.
struct HeardBell {
    std::shared_ptr<const InstanceBell> bell;
    std::uint32_t heard = 0;
};

/// A thread that sleeps on bells for the slicer, which can't sleep on more than 127 itself. A bell that
/// rings, or that somebody wakes on, is handed back: the sleeper has no more to do with it until it is given
/// it again, so nobody can keep it busy. The pages stay mapped as long as it sleeps on them.
class BellSleeper {
  public:
    /// One of the words that a wait takes is its own.
    static constexpr std::size_t kMost = BellWait::kMostWords - 1;

    /// `word`: changed and woken when a bell comes back. Throws std::system_error where there can't be
    /// another thread.
    explicit BellSleeper(std::atomic<std::uint32_t>& word);
    ~BellSleeper();
    BellSleeper(const BellSleeper&) = delete;
    BellSleeper& operator=(const BellSleeper&) = delete;

    /// From now on these, at most kMost, and none of those before. One that isn't what was heard of it comes
    /// back at once. Doesn't wait for the thread.
    void keep(std::vector<HeardBell> bells);
    /// Those that came back since this was asked last. It costs a look at one word where there is none.
    [[nodiscard]] std::vector<std::shared_ptr<const InstanceBell>> take_back();

    /// How often it has been woken so far.
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
    std::optional<std::vector<HeardBell>> next_;
    std::vector<std::shared_ptr<const InstanceBell>> back_;
    std::vector<HeardBell> kept_;  ///< the thread's own
    std::thread thread_;
};

}  // namespace cgpu::app
