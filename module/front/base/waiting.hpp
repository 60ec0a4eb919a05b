#pragma once

#include <poll.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "module/front/base/clock.hpp"

/// Waits, futex and lock, in the form that a library without exceptions, which survives forks, needs. All
/// times are those of now_ns(), and no library of the program gets in front of the waits.
namespace cgpu::front {

void sleep_until(std::int64_t when_ns);

/// Waits until one of the descriptors has what its entry asks for, until `until_ns` at the latest; may return
/// early. @return how many have; 0 or less: none.
int wait_for_any(std::span<pollfd> entries, std::int64_t until_ns);

/// Waits while *word is `value`, until `until_ns` at the latest; may return early. Works on a read-only
/// mapping and between processes.
void futex_wait(const std::atomic<std::uint32_t>* word, std::uint32_t value, std::int64_t until_ns);
void futex_wake_all(const std::atomic<std::uint32_t>* word);

/// A lock that a forked child may reset: its other threads are gone, whatever they held.
class Mutex {
  public:
    constexpr Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }
    void reset_in_child() { mutex_ = PTHREAD_MUTEX_INITIALIZER; }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// While this object lives, pthread_cancel() doesn't end this thread. A thread that ended in one of our
/// system calls would leave a lock held or a charge unfinished: nothing is unwound here, because there are no
/// exceptions.
class Uncancelled {
  public:
    Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~Uncancelled() { pthread_setcancelstate(before_, &before_); }
    Uncancelled(const Uncancelled&) = delete;
    Uncancelled& operator=(const Uncancelled&) = delete;

  private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

class Locked {
  public:
    explicit Locked(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
    ~Locked() { mutex_.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

  private:
    Mutex& mutex_;
};

}  // namespace cgpu::front
