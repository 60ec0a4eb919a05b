#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/base/waiting.hpp"
#include "module/front/link/connection.hpp"

namespace cgpu::front {

/// The front's one thread: reads the link, reconnects it, closes and reaps batches, ends charges of pool
/// memory, gives unneeded lease back. What others leave for it to do lies in Errands, in which it sleeps;
/// when nothing is outstanding it wakes once a second to see whether the program has closed its descriptors
/// (nothing else would tell).
class ServiceThread {
  public:
    constexpr ServiceThread() = default;

    /// Starts the thread; does nothing where it runs. False where it can't be made.
    bool start();
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
    void look_after_link(std::int64_t now);
    void read_link();
    void handle(Packet& packet);
    void connection_lost(std::int64_t now);
    void look_at_pools(int gpu);
    bool tell_leases();
    void give_back(std::int64_t now);
    void tell_moved(std::int64_t now);

    std::atomic<bool> running_{false};
    std::atomic<bool> finishing_{false};
    std::atomic<bool> leaves_driver_{false};
    std::atomic<bool> in_driver_{false};

    // Of the thread alone.
    bool connected_ = false;
    bool greeting_ = false;  ///< connected, Hello sent, no Welcome yet
    Descriptor candidate_;
    std::int64_t reconnect_at_ = 0;
    std::int64_t backoff_ns_ = 0;
};

ServiceThread& service_thread();

}  // namespace cgpu::front
