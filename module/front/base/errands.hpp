#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/base/descriptor.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {

/// Tasks that the program's threads leave for the service thread, and its wake-up. This class is below all
/// callers, so that none of them needs to include the service.
class Errands {
  public:
    constexpr Errands() = default;

    /// Has the service thread do a round now.
    void wake();
    /// Has the service thread do a round at `when_ns` at the latest.
    void wake_by(std::int64_t when_ns);
    /// Memory was freed: the lease may be larger than needed.
    void note_free();
    /// A call may have changed the process's memory on a GPU in a way that only the driver's figure shows.
    void note_moved(int gpu);

    // For the service thread.

    /// Creates the wake-up pipe; without it the service thread polls by the clock.
    void open();
    /// The service thread begins a round: requests until here are about work that this round handles.
    void begin_look() { asked_.store(kNever); }
    /// Whether lease should be returned now. The next note_free() requests it again.
    bool take_free(std::int64_t now);
    /// The GPUs of note_moved() (a bit for each) once it is time to report them; 0: none, or not yet.
    std::uint32_t take_moved(std::int64_t now);
    /// Sleeps until a task here is due, `until_ns` at the latest, or until `socket` (-1: none) can be read or
    /// is closed. True: the socket ended the sleep.
    bool sleep(std::int64_t until_ns, int socket);

    void reset_in_child();

  private:
    std::atomic<std::int64_t> sleeping_until_{0};  ///< 0: the service is awake
    std::atomic<std::int64_t> asked_{kNever};      ///< the earliest wake_by since the last round began
    std::atomic<std::int64_t> give_at_{kNever};
    std::atomic<std::uint32_t> moved_{0};  ///< a bit for each GPU
    std::atomic<std::int64_t> tell_moved_at_{kNever};
    Mutex pipe_mutex_;
    Descriptor wake_read_;
    Descriptor wake_write_;
};

Errands& errands();

}  // namespace cgpu::front
