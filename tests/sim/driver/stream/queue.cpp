#include "tests/sim/driver/stream/queue.hpp"

#include <utility>

#include "tests/sim/device/file/clock.hpp"

namespace simgpu {

Queue::Queue(Ring& ring, Position place, std::uint64_t client_serial)
    : ring_(ring), place_(place), client_serial_(client_serial) {}

Position Queue::at(std::uint64_t sequence) const {
    Position position = place_;
    position.sequence = sequence;
    return position;
}

std::optional<std::uint64_t> Queue::push(Operation& operation) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t sequence = tail_.load(std::memory_order_relaxed);
    if (sequence - observed() >= kRingSize) return std::nullopt;
    Record& record = ring_.at(sequence);
    fill_in(record, operation);
    if (operation.effect) pending_.push_back({sequence, std::move(operation.effect)});
    record.arrival = clock_now();
    tail_.store(sequence + 1, std::memory_order_release);
    ring_.tail.store(sequence + 1, std::memory_order_release);
    return sequence;
}

void Queue::fill_in(Record& record, const Operation& operation) {
    record.kind = operation.kind;
    record.released.store(0, std::memory_order_relaxed);
    switch (operation.kind) {
        case RecordKind::wait:
            record.wait_gpu = static_cast<std::uint8_t>(operation.wait_for.gpu);
            record.wait_client = static_cast<std::uint8_t>(operation.wait_for.client);
            record.wait_queue = static_cast<std::uint8_t>(operation.wait_for.queue);
            record.wait_sequence = operation.wait_for.sequence;
            record.wait_serial = operation.wait_serial;
            break;
        case RecordKind::kernel:
            record.priority = operation.priority.value_or(0);
            record.word = operation.word;
            record.value = operation.value;
            record.duration = operation.duration;
            break;
        case RecordKind::spin:
        case RecordKind::wait_word:
        case RecordKind::write_word:
            record.compare = operation.compare;
            record.word = operation.word;
            record.value = operation.value;
            break;
        case RecordKind::copy:
            record.engine = operation.engine;
            record.duration = operation.duration;
            break;
        case RecordKind::rendezvous:
            record.gpus = operation.gpus;
            record.value = operation.value;
            break;
        case RecordKind::mark:
        case RecordKind::transfer:
        case RecordKind::host:
            break;
    }
}

void Queue::take_due(std::uint64_t head, std::vector<Due>& due) {
    const std::lock_guard lock(mutex_);
    while (!pending_.empty() && pending_.front().sequence < head) {
        const Record& record = ring_.at(pending_.front().sequence);
        due.push_back({record.order, &record, std::move(pending_.front().effect)});
        pending_.pop_front();
    }
}

}  // namespace simgpu
