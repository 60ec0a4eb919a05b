#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/sim/driver/stream/queue.hpp"

namespace simgpu {

class Process;
class Words;

/// How this process observes the GPUs: it advances the timeline to the present, applies the effects of what
/// has completed (in the order of completion), and sleeps until something that it waits for is due.
class Observer {
  public:
    /// @param living_queues returns the queues of all living contexts at each call.
    Observer(const Process& process, Words& words, std::function<std::vector<Queue*>()> living_queues);

    void observe() { look(nullptr, 0); }

    /// Observes once. @return whether the operation has completed.
    bool has_completed(Queue& queue, std::uint64_t sequence);

    /// Waits until the operation has completed. No lock is held while sleeping.
    void wait(Queue& queue, std::uint64_t sequence);

    void wait_for_room(Queue& queue);

    /// Observes once. @return when the operation is expected to complete; now or earlier if it has.
    Nanoseconds look(Queue* queue, std::uint64_t sequence);

    /// Calls it while no effect is applied.
    template <typename Action>
    void without_effects(Action action) {
        const std::lock_guard lock(mutex_);
        action();
    }

    /// Operations that end when the process does something, not after a known time (rendezvous, host
    /// functions). While there are any, predictions are checked again sooner.
    void open_ended_began() { open_ended_.fetch_add(1, std::memory_order_relaxed); }
    void open_ended_ended() { open_ended_.fetch_sub(1, std::memory_order_relaxed); }

    static void sleep_until(Nanoseconds due);

  private:
    struct Head {
        Queue* queue;
        std::uint64_t head;
    };
    std::vector<Head> heads_now(const TimelineState& timeline) const;
    static bool effects_are_done(const std::vector<Head>& heads);
    void let_effects_happen(const std::vector<Head>& heads);

    const Process& process_;
    Words& words_;
    std::function<std::vector<Queue*>()> living_queues_;
    std::mutex mutex_;
    std::unique_ptr<TimelineState> scratch_;
    Nanoseconds last_reap_ = 0;
    std::atomic<int> open_ended_{0};
};

}  // namespace simgpu
