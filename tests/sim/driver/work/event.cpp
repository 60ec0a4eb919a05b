#include "tests/sim/driver/work/event.hpp"

#include "tests/sim/driver/runtime/runtime.hpp"

namespace simgpu {

namespace {

constexpr Nanoseconds kForeignLook = 100'000;

}  // namespace

Event::~Event() {
    if (!shared_ || origin_ == Origin::opened) return;
    Session session(context_.runtime().device());
    IpcEvents(session).remove(*shared_);
}

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
    {
        const std::lock_guard lock(mutex_);
        latest_ = recording;
        captured_ = {};
    }
    if (shared_) publish(stream, recording->sequence);
}

/// Other processes wait for more than the operation. They wait until this process has seen it, because only
/// then are its results in memory.
void Event::publish(Stream& stream, std::uint64_t sequence) {
    Context& context = stream.context;
    Stream& exports = context.export_stream();
    context.submit_wait(exports, stream.queue, sequence);
    const std::uint64_t seen = context.runtime().host_functions().submit(exports, [] {});
    Session session(context.runtime().device());
    IpcEvents(session).record(*shared_, exports.queue.at(seen), exports.queue.client_serial());
}

void Event::record_captured(CapturedRecording recording) {
    const std::lock_guard lock(mutex_);
    captured_ = std::move(recording);
}

std::optional<IpcEvent> Event::foreign() const {
    if (!shared_) return std::nullopt;
    Session session(context_.runtime().device());
    const IpcEvents events(session);
    const auto event = events.read(*shared_);
    if (!event || events.is_done(*event)) return std::nullopt;
    const std::uint32_t owner = session.layout().timeline.gpus[event->gpu].clients[event->client].process;
    if (owner == context_.runtime().slot()) return std::nullopt;
    return event;
}

void Event::hold(Stream& stream) const {
    if (const auto event = foreign()) {
        Operation wait;
        wait.kind = RecordKind::wait;
        wait.wait_for = {event->gpu, event->client, event->queue, event->sequence};
        wait.wait_serial = event->client_serial;
        // Its duration depends on the other process.
        Observer& observer = context_.runtime().observer();
        observer.open_ended_began();
        wait.effect = [&observer](const Record&) { observer.open_ended_ended(); };
        stream.context.submit(stream, std::move(wait));
        return;
    }
    const auto recording = latest();
    if (recording && !recording->done)
        stream.context.submit_wait(stream, *recording->queue, recording->sequence);
}

bool Event::is_done() const {
    const auto recording = latest();
    if (!shared_ && (!recording || recording->done)) return true;
    context_.runtime().observer().observe();
    return !foreign() && (!recording || recording->done);
}

void Event::wait() const {
    const auto recording = latest();
    if (recording && !recording->done)
        context_.runtime().observer().wait(*recording->queue, recording->sequence);
    while (foreign()) {
        Observer::sleep_until(clock_now() + kForeignLook);
        context_.runtime().observer().observe();
    }
}

std::shared_ptr<Recording> Event::latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
}

CapturedRecording Event::captured() const {
    const std::lock_guard lock(mutex_);
    return captured_;
}

}  // namespace simgpu
