#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/base/waiting.hpp"
#include "module/front/link/connection.hpp"

namespace cgpu::front {

/// The front's one thread: reads the link, reconnects it, closes and reaps batches, ends charges of pool
/// memory, returns unused lease. Errands has the tasks that other threads leave for it, and it sleeps there.
/// When nothing is pending it wakes once a second to check whether the program has closed its descriptors
/// (there is no other notification).
class ServiceThread {
  public:
    constexpr ServiceThread() = default;

    /// Starts the thread; does nothing if it is running. False if it can't be created.
    bool start();
    /// The process's exit handlers run: the thread doesn't use the driver any more. Waits until it has left
    /// the driver, a second at most: on a host without a free core it may need that, and driver calls after
    /// the driver's end crash. Asks of the program to the daemon are still answered.
    void leave_driver();
    /// The process ends, and with it the thread.
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
