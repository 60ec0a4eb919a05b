#include "module/front/base/waiting.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <climits>

#include "module/front/base/system_call.hpp"

namespace cgpu::front {
namespace {

timespec to_timespec(std::int64_t ns) {
    return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}

}  // namespace

void sleep_until(std::int64_t when_ns) {
    const Uncancelled uncancelled;
    const timespec when = to_timespec(time_in_namespace(when_ns));
    system_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

int wait_for_any(std::span<pollfd> entries, std::int64_t until_ns) {
    timespec left = to_timespec(std::max<std::int64_t>(until_ns - now_ns(), 0));
    return static_cast<int>(system_call(SYS_ppoll, entries.data(), entries.size(), &left, nullptr, 0));
}

void futex_wait(const std::atomic<std::uint32_t>* word, std::uint32_t value, std::int64_t until_ns) {
    const timespec until = to_timespec(time_in_namespace(until_ns));
    // The bitset form takes an absolute time on CLOCK_MONOTONIC.
    system_call(SYS_futex, word, FUTEX_WAIT_BITSET, value, until_ns == kNever ? nullptr : &until, nullptr,
                FUTEX_BITSET_MATCH_ANY);
}

void futex_wake_all(const std::atomic<std::uint32_t>* word) {
    system_call(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace cgpu::front
