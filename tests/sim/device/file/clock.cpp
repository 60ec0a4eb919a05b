#include "tests/sim/device/file/clock.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>

namespace simgpu {

namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

/// libc's own function, whatever library stands in front of it.
template <class Function>
Function* own(const char* name, Function* otherwise) {
    void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void* found = libc ? dlsym(libc, name) : nullptr;
    return found ? reinterpret_cast<Function*>(found) : otherwise;
}

/// The offset in the file behind the descriptor, which is closed.
Nanoseconds take_offset(long file) {
    if (file < 0) return 0;
    std::array<char, 256> text{};
    const bool got = read(static_cast<int>(file), text.data(), text.size() - 1) > 0;
    close(static_cast<int>(file));
    long long seconds = 0;
    long long rest = 0;
    // The file begins with the monotonic clock.
    if (!got || std::sscanf(text.data(), "monotonic %lld %lld", &seconds, &rest) != 2) return 0;
    return seconds * kSecond + rest;
}

/// What the process's time namespace adds to the host's clock. A mount over the file in /proc isn't believed.
Nanoseconds read_offset() {
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    if (take_offset(open("/proc/self/timens_offsets", kFlags)) == 0) return 0;
    open_how how{};
    how.flags = kFlags;
    how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS;
    const int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const Nanoseconds offset =
        take_offset(syscall(__NR_openat2, proc, "self/timens_offsets", &how, sizeof how));
    if (proc >= 0) close(proc);
    return offset;
}

/// A child may be in another time namespace than its parent.
class Offset {
  public:
    Offset() : ns_(read_offset()) {
        pthread_atfork(nullptr, nullptr,
                       [] { instance().ns_.store(read_offset(), std::memory_order_relaxed); });
    }
    static Offset& instance() {
        static Offset offset;
        return offset;
    }
    Nanoseconds ns() const { return ns_.load(std::memory_order_relaxed); }

  private:
    std::atomic<Nanoseconds> ns_;
};

}  // namespace

Nanoseconds clock_now() {
    static const auto read_clock = own("clock_gettime", &clock_gettime);
    timespec time{};
    read_clock(CLOCK_MONOTONIC, &time);
    return Nanoseconds{time.tv_sec} * kSecond + time.tv_nsec - Offset::instance().ns();
}

void clock_sleep_until(Nanoseconds due) {
    static const auto sleep = own("clock_nanosleep", &clock_nanosleep);
    const Nanoseconds here = due + Offset::instance().ns();
    const timespec time{here / kSecond, here % kSecond};
    sleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

}  // namespace simgpu
