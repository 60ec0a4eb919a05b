// clock_probe [LEAST]: checks the front's clock and waits in the process in which it is started, whatever
// clock that has. LEAST: the host's time when it was started, in ns; then it prints its own time. Exit status
// 1, and a line, if something is wrong.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "module/front/base/system_call.hpp"
#include "module/front/base/waiting.hpp"

namespace {

using namespace cgpu::front;

/// The kernel's clock of this process's time namespace.
std::int64_t kernel_ns() {
    timespec time{};
    system_call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
}

#define MUST(condition)                                             \
    if (!(condition)) {                                             \
        std::printf("line %d: not so: %s\n", __LINE__, #condition); \
        return 1;                                                   \
    }

int check() {
    // Whatever its offset, it runs as the kernel's clock does, and the waits end when they should.
    constexpr auto kMiddle = kNever / 2;
    const auto offset = time_in_namespace(kMiddle) - kMiddle;
    MUST(time_in_namespace(kNever) == kNever + std::min<std::int64_t>(offset, 0));
    MUST(time_in_namespace(0) == std::max<std::int64_t>(offset, 0));
    for (int i = 0; i < 100; ++i) {
        const auto before = kernel_ns();
        const auto now = time_in_namespace(now_ns());
        const auto after = kernel_ns();
        MUST(before <= now && now <= after);
    }
    constexpr auto kLong = 20 * kMillisecond;
    // A wait that the kernel or a library took for another clock's would be over at once, or not for hours.
    const auto until = now_ns() + kLong;
    sleep_until(until);
    MUST(now_ns() >= until);
    std::atomic<std::uint32_t> word{0};
    const auto before = kernel_ns();
    while (now_ns() < until + kLong) futex_wait(&word, 0, until + kLong);
    MUST(kernel_ns() - before < 10 * kSecond);
    std::array<int, 2> pipe{};
    MUST(::pipe(pipe.data()) == 0);
    std::array<pollfd, 1> entries{{{pipe[0], POLLIN, 0}}};
    MUST(wait_for_any(entries, now_ns() + kLong) == 0);
    MUST(now_ns() >= until + 2 * kLong - kMillisecond);
    MUST(write(pipe[1], "", 1) == 1);
    MUST(wait_for_any(entries, now_ns() + 3600 * kSecond) == 1);
    MUST(entries[0].revents == POLLIN);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) {
        const auto least = std::atoll(arguments[1]);
        if (now_ns() < least) {
            std::printf("the time is %lld, earlier than %lld\n", static_cast<long long>(now_ns()), least);
            return 1;
        }
    }
    if (check() != 0) return 1;
    // And in a child, which looks for its own.
    const pid_t child = fork();
    if (child == 0) _exit(check());
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
    std::printf("%lld\n", static_cast<long long>(now_ns()));
    return 0;
}
