#include "module/front/base/waiting.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace cgpu::front {
namespace {

timespec to_timespec(std::int64_t ns) {
    return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}

}  // namespace

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * kSecond + now.tv_nsec;
}

void sleep_until(std::int64_t when_ns) {
    const Uncancelled uncancelled;
    const timespec when = to_timespec(when_ns);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

void futex_wait(const std::atomic<std::uint32_t>* word, std::uint32_t value, std::int64_t until_ns) {
    const timespec until = to_timespec(until_ns);
    // The bitset form takes an absolute time on CLOCK_MONOTONIC.
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, until_ns == kNever ? nullptr : &until, nullptr,
            FUTEX_BITSET_MATCH_ANY);
}

void futex_wake_all(const std::atomic<std::uint32_t>* word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace cgpu::front
