#include "module/front/swap/sections.hpp"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "module/front/base/waiting.hpp"

namespace cgpu::front {
namespace detail {
thread_local constinit Thread this_thread;
}  // namespace detail

namespace {

using detail::Mark;
using detail::Slot;

/// A mark of this value or more means that its thread is inside.
constexpr std::uint32_t kInside = 2;
constexpr int kSpins = 200;
constexpr std::int64_t kLookAgain = 100 * kMillisecond;

#ifdef __SANITIZE_THREAD__
constexpr bool kMayUseMembarrier = false;  // what it orders is invisible to ThreadSanitizer
#else
constexpr bool kMayUseMembarrier = true;
#endif

pthread_key_t ends_key;
std::atomic<bool> ends_are_told{false};

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void thread_ends(void* slot) {
    auto* mine = static_cast<Slot*>(slot);
    detail::this_thread.mark = nullptr;
    detail::this_thread.slot = nullptr;
    detail::this_thread.ended = true;
    mine->batch.store(0, std::memory_order_release);
    mine->mark.store(0, std::memory_order_release);
    mine->taken.store(false, std::memory_order_release);
}

bool have_ends_told() {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, [] { ends_are_told.store(pthread_key_create(&ends_key, thread_ends) == 0); });
    return ends_are_told.load();
}

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

/// A waiting thread first spins, then yields, because the others may need this core.
void wait_a_little(int round) {
    if (round < kSpins) return relax();
    if (round < 2 * kSpins) {
        sched_yield();
        return;
    }
    sleep_until(now_ns() + 20 * kMicrosecond);
}

}  // namespace

void Sections::begin(const Running& first) {
    const bool registered = kMayUseMembarrier && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    expedited_.store(registered);
    open(first);
}

bool Sections::close(std::int64_t until_ns) {
    closed_.store(1);
    current_.store(nullptr);
    if (barrier() && wait_until_empty(until_ns)) return true;
    open(*in_force_.load());
    return false;
}

void Sections::open(const Running& running) {
    in_force_.store(&running);
    current_.store(&running);
    closed_.store(0);
    futex_wake_all(&closed_);
}

/// A program may have forbidden itself the call since it was registered. Threads that enter from then on use
/// a locked instruction, so the next try succeeds.
bool Sections::barrier() {
    if (!expedited_.load() || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return true;
    expedited_.store(false);
    return false;
}

/// If the barrier fails, threads that enter from now on use a locked instruction, but one that has begun
/// before may be invisible: this one time it counts as present.
bool Sections::anybody_launches(std::uint64_t batch, bool plainly) {
    if (plainly && !barrier()) return true;
    for (const Slot* slot = slots_.load(); slot != nullptr; slot = slot->next)
        if (slot->batch.load() == batch) return true;
    return false;
}

/// Threads that take a slot after this has begun find that all are kept out.
bool Sections::wait_until_empty(std::int64_t until_ns) const {
    int round = 0;
    const auto all_out = [&](auto inside) {
        for (; inside(); ++round) {
            if (now_ns() >= until_ns) return false;
            wait_a_little(round);
        }
        return true;
    };
    for (const Slot* slot = slots_.load(); slot != nullptr; slot = slot->next)
        if (!all_out([slot] { return slot->mark.load() != 0; })) return false;
    return all_out([this] { return unlisted_.load() > 0; });
}

/// Null where no engine was in force, or where all threads are kept out. A thread that is already inside, in
/// the code below the signal handler that it now runs, gets the engine in force: the exchange waits for it.
const Running* Sections::enter_late(Mark* mark, std::uint32_t before) {
    while (true) {
        if (before >= kInside) return in_force_.load();
        const bool closed = closed_.load() != 0;
        if (const Running* running = current_.load()) return running;
        if (!closed) return nullptr;
        // A signal handler that interrupted its thread between the two stores of enter() (mark 1) must not
        // clear the thread's mark: the exchange must still see it.
        mark->store(before, std::memory_order_release);
        wait_for_opening();
        mark->exchange(before + 1);
        if (const Running* running = current_.load()) return running;
    }
}

const Running* Sections::enter_unlisted() {
    auto& depth = detail::this_thread.unlisted;
    while (true) {
        unlisted_.fetch_add(1);
        const bool closed = closed_.load() != 0;
        const Running* running = depth > 0 ? in_force_.load() : current_.load();
        if (running != nullptr || !closed) {
            ++depth;
            return running;
        }
        unlisted_.fetch_sub(1);
        wait_for_opening();
    }
}

void Sections::leave_unlisted() {
    --detail::this_thread.unlisted;
    unlisted_.fetch_sub(1);
}

void Sections::wait_for_opening() {
    for (int i = 0; i < kSpins; ++i) {
        if (closed_.load(std::memory_order_relaxed) == 0) return;
        relax();
    }
    futex_wait(&closed_, 1, now_ns() + kLookAgain);
}

/// Null: this thread can't have a slot, because there is no memory or because it ends.
Mark* Sections::mark_of_thread() {
    detail::Thread& thread = detail::this_thread;
    if (thread.ended || thread.unlisted > 0 || !have_ends_told()) return nullptr;
    Slot* slot = take_slot();
    if (slot == nullptr) return nullptr;
    if (thread.slot != nullptr || pthread_setspecific(ends_key, slot) != 0) {
        // A signal handler was faster; or the end of the thread would not be noticed.
        slot->taken.store(false);
        return thread.mark;
    }
    thread.slot = slot;
    thread.mark = &slot->mark;
    return thread.mark;
}

Slot* Sections::take_slot() {
    for (Slot* slot = slots_.load(); slot != nullptr; slot = slot->next) {
        bool taken = slot->taken.load(std::memory_order_relaxed);
        if (!taken && slot->taken.compare_exchange_strong(taken, true)) return slot;
    }
    auto* fresh = new (std::nothrow) Slot;
    if (fresh == nullptr) return nullptr;
    fresh->next = slots_.load();
    while (!slots_.compare_exchange_weak(fresh->next, fresh)) continue;
    return fresh;
}

void Sections::reset_in_child() {
    current_.store(nullptr);
    in_force_.store(nullptr);
    closed_.store(0);
    unlisted_.store(static_cast<std::int32_t>(detail::this_thread.unlisted));
    for (Slot* slot = slots_.load(); slot != nullptr; slot = slot->next) {
        slot->mark.store(0);
        slot->batch.store(0);
        slot->taken.store(slot == detail::this_thread.slot);
    }
}

}  // namespace cgpu::front
