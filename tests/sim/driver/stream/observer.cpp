#include "tests/sim/driver/stream/observer.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/driver/base/process.hpp"
#include "tests/sim/driver/stream/words.hpp"

namespace simgpu {

namespace {

constexpr Nanoseconds kHorizon = 20'000'000;  ///< Predictions end here; then the waiting thread looks again.
constexpr Nanoseconds kOpenEndedLook = 200'000;  ///< ... or here, while something open-ended is under way.
constexpr Nanoseconds kReapEvery = 1'000'000;
constexpr Nanoseconds kRoomNap = 200'000;  ///< A full queue is looked at no more often.
constexpr Nanoseconds kSpin = 20'000;      ///< The last bit of a wait isn't slept: the kernel wakes later.

}  // namespace

Observer::Observer(const Process& process, Words& words, std::function<std::vector<Queue*>()> living_queues)
    : process_(process),
      words_(words),
      living_queues_(std::move(living_queues)),
      scratch_(std::make_unique<TimelineState>()) {}

bool Observer::has_completed(Queue& queue, std::uint64_t sequence) {
    if (queue.observed() <= sequence) observe();
    return queue.observed() > sequence;
}

void Observer::wait(Queue& queue, std::uint64_t sequence) {
    while (queue.observed() <= sequence) {
        const Nanoseconds due = look(&queue, sequence);
        if (queue.observed() <= sequence) sleep_until(due);
    }
}

void Observer::wait_for_room(Queue& queue) {
    while (queue.tail() - queue.observed() >= kRingSize) {
        const Nanoseconds due = look(&queue, queue.tail() - kRingSize);
        if (queue.tail() - queue.observed() >= kRingSize) sleep_until(std::max(due, clock_now() + kRoomNap));
    }
}

Nanoseconds Observer::look(Queue* queue, std::uint64_t sequence) {
    const std::lock_guard lock(mutex_);
    bool passed = true;
    std::vector<Head> heads;
    {
        Session session(process_.device());
        TimelineState& timeline = session.layout().timeline;
        if (clock_now() - last_reap_ > kReapEvery) {
            Ledger(session).reap(process_.slot());
            last_reap_ = clock_now();
        }
        session.advance();
        heads = heads_now(timeline);
        // What the process sees of its memory is valid once the effects that are due have happened.
        if (!words_.none() && effects_are_done(heads) && words_.refresh(session)) {
            session.advance();
            heads = heads_now(timeline);
        }
        if (queue) {
            const Position at = queue->at(sequence);
            passed = timeline.gpus[at.gpu].clients[at.client].queues[at.queue].head > sequence;
            if (!passed) copy_used(*scratch_, timeline);
        }
    }
    let_effects_happen(heads);
    if (passed) return 0;
    const Nanoseconds horizon = scratch_->now + kHorizon;
    Timeline future(*scratch_, process_.device().rings(), Timeline::Stamps::leave);
    const Nanoseconds due = future.advance_until(queue->at(sequence), horizon).value_or(horizon);
    return open_ended_.load(std::memory_order_relaxed) > 0 ? std::min(due, clock_now() + kOpenEndedLook)
                                                           : due;
}

std::vector<Observer::Head> Observer::heads_now(const TimelineState& timeline) const {
    std::vector<Head> heads;
    for (Queue* queue : living_queues_()) {
        const Position at = queue->at(0);
        const ClientState& client = timeline.gpus[at.gpu].clients[at.client];
        if (at.queue < client.queue_count) heads.push_back({queue, client.queues[at.queue].head});
    }
    return heads;
}

bool Observer::effects_are_done(const std::vector<Head>& heads) {
    return std::all_of(heads.begin(), heads.end(),
                       [](const Head& head) { return head.head <= head.queue->observed(); });
}

void Observer::let_effects_happen(const std::vector<Head>& heads) {
    std::vector<Queue::Due> due;
    for (const Head& head : heads) {
        if (head.head > head.queue->observed()) head.queue->take_due(head.head, due);
    }
    std::sort(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
    for (const Queue::Due& done : due) done.effect(*done.record);
    for (const Head& head : heads) head.queue->set_observed(head.head);
}

void Observer::sleep_until(Nanoseconds due) {
    if (due - clock_now() > 2 * kSpin) {
        // The default slack of 50 µs is longer than many kernels.
        const int slack = prctl(PR_GET_TIMERSLACK);
        prctl(PR_SET_TIMERSLACK, 1);
        clock_sleep_until(due - kSpin);
        prctl(PR_SET_TIMERSLACK, slack);
    }
    while (clock_now() < due) {
        __builtin_ia32_pause();
    }
}

}  // namespace simgpu
