#include "daemon/app/compute/doorbell_wait.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <limits>

namespace cgpu::app {
namespace {

constexpr Nanos kNever = std::numeric_limits<Nanos>::max();
/// FUTEX2_SIZE_U32, not private: tenants ring from their own processes.
constexpr std::uint32_t kSharedWord = 2;
constexpr long kFutexWaitv = 449;  ///< the same on every architecture; older headers lack it

/// struct futex_waitv of linux/futex.h, which older headers lack.
struct Waiter {
    std::uint64_t value;
    std::uint64_t address;
    std::uint32_t flags;
    std::uint32_t reserved;
};

timespec to_timespec(Nanos time) { return {time / kSecond, time % kSecond}; }

}  // namespace

Nanos monotonic_now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return Nanos{time.tv_sec} * kSecond + time.tv_nsec;
}

bool can_wait_for_many() {
    // A call without words fails with EINVAL; other errors mean that the call doesn't exist (ENOSYS), or that
    // a system call filter rejects it (EPERM).
    static const bool can = syscall(kFutexWaitv, nullptr, 0, 0, nullptr, 0) < 0 && errno == EINVAL;
    return can;
}

void wake(std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void DoorbellWait::add(const std::atomic<std::uint32_t>& word) {
    add(word, word.load(std::memory_order_acquire));
}

bool DoorbellWait::changed() const {
    return std::any_of(words_.begin(), words_.end(), [](const Word& each) {
        return each.word->load(std::memory_order_acquire) != each.value;
    });
}

std::optional<std::size_t> DoorbellWait::until(Nanos deadline) {
    if (polls_ || words_.size() > kMostWords) {
        poll_until(deadline);
        return std::nullopt;
    }
    std::array<Waiter, kMostWords> waiters;
    for (std::size_t i = 0; i < words_.size(); ++i)
        waiters[i] = {words_[i].value, reinterpret_cast<std::uint64_t>(words_[i].word), kSharedWord, 0};
    const auto time = to_timespec(deadline);
    const auto result = syscall(kFutexWaitv, waiters.data(), words_.size(), 0,
                                deadline == kNever ? nullptr : &time, CLOCK_MONOTONIC);
    if (result >= 0) return static_cast<std::size_t>(result);
    // Other errors, such as a lack of memory, must not cause a loop that never sleeps.
    if (errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT) poll_until(deadline);
    return std::nullopt;
}

void DoorbellWait::poll_until(Nanos deadline) const {
    // With only the first word (our own) there is no tenant whose doorbell could be missed for long.
    const auto every = words_.size() > 1 ? kPollEvery : 100 * kPollEvery;
    while (!changed()) {
        const auto now = monotonic_now();
        if (now >= deadline) return;
        const auto time = to_timespec(std::min(deadline, now + every));
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
    }
}

}  // namespace cgpu::app
