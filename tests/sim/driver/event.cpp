#include "tests/sim/driver/event.hpp"

namespace simgpu {

void Event::record(Stream& stream) {
    auto recording = std::make_shared<Recording>();
    recording->queue = &stream.queue;
    Operation operation;
    operation.kind = RecordKind::mark;
    operation.effect = [recording](const Record& record) {
        recording->time = record.completed;
        recording->done.store(true, std::memory_order_release);
    };
    recording->sequence = stream.context.submit(stream, std::move(operation));
    const std::lock_guard lock(mutex_);
    latest_ = recording;
}

std::shared_ptr<Recording> Event::latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
}

}  // namespace simgpu
