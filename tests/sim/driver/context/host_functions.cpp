#include "tests/sim/driver/context/host_functions.hpp"

#include <algorithm>
#include <csignal>
#include <thread>
#include <utility>

#include "tests/sim/device/file/clock.hpp"
#include "tests/sim/driver/stream/observer.hpp"

namespace simgpu {

namespace {

constexpr Nanoseconds kLookEvery = 200'000;

}  // namespace

std::uint64_t HostFunctions::submit(Stream& stream, std::function<void()> function) {
    Operation operation;
    operation.kind = RecordKind::host;
    operation.effect = [this](const Record&) { observer_.open_ended_ended(); };
    observer_.open_ended_began();
    const std::uint64_t sequence = stream.context.submit(stream, std::move(operation));
    const std::lock_guard lock(mutex_);
    waiting_.push_back({&stream.queue, sequence, std::move(function)});
    if (!started_) start_thread();
    changed_.notify_one();
    return sequence;
}

void HostFunctions::start_thread() {
    // The program's signals must be handled by the program's threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { serve(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    started_ = true;
}

void HostFunctions::serve() {
    while (true) {
        Queue* queue = nullptr;
        std::uint64_t sequence = 0;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !waiting_.empty(); });
            queue = waiting_.front().queue;
            sequence = waiting_.front().sequence;
        }
        Nanoseconds due = 0;
        if (sequence == 0 || queue->observed() >= sequence) {
            observer_.observe();
        } else {
            due = observer_.look(queue, sequence - 1);
        }
        std::list<Call> ready = take_ready();
        for (Call& call : ready) {
            call.function();
            call.queue->ring().at(call.sequence).released.store(clock_now(), std::memory_order_release);
        }
        if (ready.empty()) Observer::sleep_until(std::min(due, clock_now() + kLookEvery));
    }
}

/// Returns the functions whose predecessors in the queue have completed.
std::list<HostFunctions::Call> HostFunctions::take_ready() {
    const std::lock_guard lock(mutex_);
    std::list<Call> ready;
    for (auto call = waiting_.begin(); call != waiting_.end();) {
        const auto next = std::next(call);
        if (call->queue->observed() >= call->sequence) ready.splice(ready.end(), waiting_, call);
        call = next;
    }
    return ready;
}

}  // namespace simgpu
