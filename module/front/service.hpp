#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/connection.hpp"
#include "module/front/waiting.hpp"

namespace cgpu::front {

/// The front's one thread: reads the link, reconnects it, closes and reaps batches, ends charges of pool
/// memory, gives unneeded lease back. It sleeps in poll() and, when nothing is outstanding, wakes once a
/// second to see whether the program has closed its descriptors (nothing else would tell).
class Service {
  public:
    constexpr Service() = default;

    /// Starts the thread; does nothing where it runs. False where it can't be made.
    bool start();
    /// Has the thread look around now.
    void wake();
    /// Has the thread look around at `when_ns` at the latest.
    void wake_by(std::int64_t when_ns);
    /// Memory was freed: the lease may have more than is needed.
    void note_free();
    /// A call may have moved the process's memory on a GPU in a way that only the driver's figure tells of.
    void note_moved(int gpu);
    /// The process's exit handlers run: the thread leaves the driver alone from here on. Waits for it to be
    /// out, a second at most: on a host without a free core it may need that, and driver calls after the
    /// driver's end crash. What the program still asks of the daemon is answered.
    void leave_driver();
    /// The process ends, and the thread.
    void finish();

    void reset_in_child();

  private:
    static void* run(void* self);
    void loop();
    void wait(std::int64_t until_ns);
    void look_after_link(std::int64_t now);
    void read_link();
    void handle(Packet& packet);
    void connection_lost(std::int64_t now);
    void look_at_pools(int gpu);
    bool tell_leases();
    void give_back(std::int64_t now);
    void tell_moved(std::int64_t now);
    bool open_wake_pipe();

    std::atomic<bool> running_{false};
    std::atomic<bool> finishing_{false};
    std::atomic<bool> leaves_driver_{false};
    std::atomic<bool> in_driver_{false};
    std::atomic<std::int64_t> sleeping_until_{0};  ///< 0: it is awake
    std::atomic<std::int64_t> asked_{kNever};      ///< the soonest of wake_by since it last began to look
    std::atomic<std::int64_t> give_at_{kNever};
    std::atomic<std::uint32_t> moved_{0};  ///< a bit for each GPU
    std::atomic<std::int64_t> tell_moved_at_{kNever};
    Mutex pipe_mutex_;
    Descriptor wake_read_;
    Descriptor wake_write_;

    // Of the thread alone.
    bool connected_ = false;
    bool greeting_ = false;  ///< connected, Hello sent, no Welcome yet
    Descriptor candidate_;
    std::int64_t reconnect_at_ = 0;
    std::int64_t backoff_ns_ = 0;
};

Service& service();

}  // namespace cgpu::front
