#include <algorithm>

#include "module/engine/compute/meter.hpp"

// The meter's other half: what becomes of batches that the GPU is done with.
namespace cgpu::module {
namespace {

constexpr std::int64_t kAtOnce = 50'000;  // ns: an event on an idle stream, and what two clocks differ by

}  // namespace

void Meter::reaped(BatchId id, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now_ns) {
    Batch* batch = batches_.find(id);
    if (batch == nullptr) return;
    end_ns = std::min(end_ns, now_ns);
    start_ns = std::min(start_ns, end_ns);
    std::int64_t since = start_ns;
    batches_.each([&](const Batch& each) { since = std::min(since, each.first_ns); });
    end_ns = end_of_use(*batch, start_ns, end_ns);
    const std::int64_t covered = busy_.add(start_ns, end_ns, since);
    const std::int64_t beyond = batch->gap ? std::max<std::int64_t>(0, covered - batch->estimate_ns) : 0;
    const std::int64_t idle = std::min(idle_ns_, beyond);
    idle_ns_ -= idle;
    used_ns_ += covered - idle;
    learn(*batch, covered - idle, end_ns - start_ns);
    finish(*batch, end_ns, now_ns);
}

/// An end event that came at once ends a batch that nothing had been launched into for a while: that was no
/// use. One that came late shows that the estimates were too short, and so that there were no gaps: late by
/// what it came after the time it was put there, for a process that is stopped puts it there when it goes on.
std::int64_t Meter::end_of_use(Batch& batch, std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t due = backlog_.due(batch.due_mark);
    const bool at_once = end_ns <= batch.closed_ns + kAtOnce;
    if (!at_once) backlog_.correct(end_ns - std::max(due, std::min(end_ns, batch.closed_ns)));
    if (end_ns > std::max(due, batch.closed_ns) + kAtOnce + batch.estimate_ns / 4) {
        batch.gap = false;
    } else if (at_once && due < batch.closed_ns) {
        batch.gap = true;
        return std::max(start_ns, end_ns - (batch.closed_ns - due));
    }
    return end_ns;
}

void Meter::lost(BatchId id, std::int64_t now_ns) {
    Batch* batch = batches_.find(id);
    if (batch == nullptr) return;
    used_ns_ += batch->estimate_ns;
    finish(*batch, std::max(batch->start_ns, now_ns), now_ns);
}

void Meter::finish(Batch& batch, std::int64_t end_ns, std::int64_t now_ns) {
    const bool was_oldest = &batch == batches_.oldest();
    if (batch.unmeasured) --unmeasured_;
    in_flight_ns_ -= batch.estimate_ns;
    window_.progressed(now_ns);
    batches_.remove(batch.id);
    Batch* next = batches_.oldest();
    if (next == nullptr) {
        in_flight_ns_ = idle_ns_ = 0;
        backlog_.at_most(end_ns);
        window_.empty();
        return;
    }
    if (was_oldest) next->start_ns = std::max(next->first_ns, end_ns);
    backlog_.at_most(now_ns + in_flight_ns_);
}

void Meter::learn(const Batch& batch, std::int64_t busy_ns, std::int64_t span_ns) {
    if (batch.launches == 0) return;
    if (batch.launches == 1) longest_ns_ = std::max(longest_ns_, busy_ns);
    if (batch.overlapped || batch.foreign) {
        if (batch.function_count == 1)
            functions_.learn_roughly(batch.last_function, span_ns / batch.launches,
                                     batch.meets && !batch.gap);
        if (!batch.foreign && !batch.unmeasured && !batch.gap) overlap_.learn(busy_ns, batch.estimate_ns);
    } else if (batch.function_count > 1) {
        for (std::uint32_t i = 0; i < batch.function_count; ++i) {
            functions_.correct(batch.functions[i], busy_ns, batch.estimate_ns);
        }
    } else if (!batch.gap) {
        functions_.learn(batch.last_function, busy_ns / batch.launches);
    }
}

}  // namespace cgpu::module
