#pragma once

#include <atomic>
#include <cstdint>

namespace cgpu::module {

/// A lock private to the process, held for nanoseconds: spins briefly, then sleeps in the kernel. std::mutex
/// would do, but it needs libpthread's symbols, which old images have in another file.
class Lock {
  public:
    void lock() {
        std::uint32_t free = kFree;
        if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) wait();
    }
    void unlock() {
        if (word_.exchange(kFree, std::memory_order_release) == kWanted) wake();
    }

  private:
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kHeld = 1;
    static constexpr std::uint32_t kWanted = 2;  ///< held, and a thread sleeps

    void wait();
    void wake();

    std::atomic<std::uint32_t> word_{kFree};
};

class Guard {
  public:
    explicit Guard(Lock& lock) : lock_(lock) { lock_.lock(); }
    ~Guard() { lock_.unlock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

  private:
    Lock& lock_;
};

}  // namespace cgpu::module
