#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/sim/driver/stream/operation.hpp"
#include "tests/sim/model/timeline.hpp"

namespace simgpu {

/// This process's end of one hardware queue. Pushing takes no lock that another process could hold.
class Queue {
  public:
    Queue(Ring& ring, Position place, std::uint64_t client_serial);

    /// @return the operation's sequence number; nothing, and the operation is unchanged, while the queue is
    /// full.
    std::optional<std::uint64_t> push(Operation& operation);

    /// Operations pushed so far; the next one gets this sequence number.
    std::uint64_t tail() const { return tail_.load(std::memory_order_acquire); }
    /// Operations up to here have completed, and their effects have happened.
    std::uint64_t observed() const { return observed_.load(std::memory_order_acquire); }
    bool idle() const { return observed() == tail(); }
    Position at(std::uint64_t sequence) const;
    std::uint64_t client_serial() const { return client_serial_; }
    Ring& ring() { return ring_; }

    struct Due {
        std::uint64_t order;
        const Record* record;
        Effect effect;
    };
    /// Moves the effects of operations before `head` to `due`.
    void take_due(std::uint64_t head, std::vector<Due>& due);
    void set_observed(std::uint64_t head) { observed_.store(head, std::memory_order_release); }

    /// Streams that share this queue; guarded by the context.
    std::uint32_t streams = 0;
    std::uint32_t blocking_streams = 0;
    /// How far the legacy default stream waits for this queue, and this queue for it.
    std::atomic<std::uint64_t> legacy_waits_until{0};
    std::atomic<std::uint64_t> waits_for_legacy_until{0};

  private:
    static void fill_in(Record& record, const Operation& operation);

    struct Pending {
        std::uint64_t sequence;
        Effect effect;
    };

    Ring& ring_;
    Position place_;
    std::uint64_t client_serial_;
    std::mutex mutex_;
    std::atomic<std::uint64_t> tail_{0};
    std::atomic<std::uint64_t> observed_{0};
    std::deque<Pending> pending_;
};

}  // namespace simgpu
