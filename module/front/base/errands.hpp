#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/base/descriptor.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {

/// What threads of the program leave for the service thread to do, and what wakes it. It lies below all who
/// leave something, so that none of them needs to know the service.
class Errands {
  public:
    constexpr Errands() = default;

    /// Has the service look around now.
    void wake();
    /// Has the service look around at `when_ns` at the latest.
    void wake_by(std::int64_t when_ns);
    /// Memory was freed: the lease may have more than is needed.
    void note_free();
    /// A call may have moved the process's memory on a GPU in a way that only the driver's figure tells of.
    void note_moved(int gpu);

    // For the service thread.

    /// Makes what wakes it; without that it looks around by the clock.
    void open();
    /// It begins to look around: what was asked until here is about work that it looks at now.
    void begin_look() { asked_.store(kNever); }
    /// Whether lease is to go back now. It is asked for anew by the next note_free().
    bool take_free(std::int64_t now);
    /// The GPUs of note_moved() (a bit for each) once it is time to tell; 0: none, or not yet.
    std::uint32_t take_moved(std::int64_t now);
    /// Sleeps until something left here is due, `until_ns` at the latest, or until `socket` (-1: none) can be
    /// read or is closed. True: it is that.
    bool sleep(std::int64_t until_ns, int socket);

    void reset_in_child();

  private:
    std::atomic<std::int64_t> sleeping_until_{0};  ///< 0: the service is awake
    std::atomic<std::int64_t> asked_{kNever};      ///< the soonest of wake_by since it last began to look
    std::atomic<std::int64_t> give_at_{kNever};
    std::atomic<std::uint32_t> moved_{0};  ///< a bit for each GPU
    std::atomic<std::int64_t> tell_moved_at_{kNever};
    Mutex pipe_mutex_;
    Descriptor wake_read_;
    Descriptor wake_write_;
};

Errands& errands();

}  // namespace cgpu::front
