#include "module/engine/base/lock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cgpu::module {
namespace {

constexpr int kSpins = 200;

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

void Lock::wait() {
    for (int i = 0; i < kSpins; ++i) {
        std::uint32_t word =
            word_.load(std::memory_order_relaxed);  // a failed exchange would slow the holder down
        if (word == kFree && word_.compare_exchange_weak(word, kHeld, std::memory_order_acquire)) return;
        relax();
    }
    while (word_.exchange(kWanted, std::memory_order_acquire) != kFree) {
        syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, kWanted, nullptr, nullptr, 0);
    }
}

void Lock::wake() { syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

}  // namespace cgpu::module
