#include "tests/sim/driver/context/context.hpp"

#include <map>
#include <utility>

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/driver/base/process.hpp"
#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/stream/observer.hpp"

namespace simgpu {

Context::Context(Runtime& runtime, const Process& process, Observer& observer, std::uint32_t ordinal,
                 bool primary, unsigned int creation_flags, Context* parent)
    : flags(creation_flags),
      own_memory(process, process.gpu_of(ordinal)),
      runtime_(runtime),
      process_(process),
      observer_(observer),
      ordinal_(ordinal),
      gpu_(process.gpu_of(ordinal)),
      primary_(primary),
      parent_(parent) {}

std::uint64_t Context::cost() const { return parent_ ? 0 : process_.device().card(gpu_).context_bytes; }

CUresult Context::open() {
    {
        Session session(process_.device());
        Ledger ledger(session);
        if (!ledger.charge(process_.slot(), gpu_, Purpose::context, cost())) return CUDA_ERROR_OUT_OF_MEMORY;
        const auto client = ledger.add_client(process_.slot(), gpu_);
        if (!client) {
            ledger.refund(process_.slot(), gpu_, Purpose::context, cost());
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        client_ = *client;
        serial_ = session.layout().timeline.gpus[gpu_].clients[client_].serial;
    }
    error_ = CUDA_SUCCESS;
    queue_count_ = 0;
    Queue* queue = least_loaded_queue(true);
    legacy_ = std::make_unique<Stream>(*this, *queue, CU_STREAM_DEFAULT, 0, next_stream_id_++);
    legacy_->is_legacy = true;
    open_ = true;
    return CUDA_SUCCESS;
}

void Context::close() {
    synchronize();
    open_ = false;
    // The streams of a green context stay, and can't be used.
    if (!parent_) {
        const std::lock_guard lock(mutex_);
        for (Stream* stream : std::exchange(streams_, {})) {
            forget_stream(*stream);
            delete stream;
        }
        graph_lanes_.clear();
        export_stream_ = nullptr;
    }
    own_memory.clear();
    Session session(process_.device());
    Ledger ledger(session);
    session.advance();
    ledger.remove_client(gpu_, client_);
    ledger.refund(process_.slot(), gpu_, Purpose::context, cost());
}

Stream& Context::per_thread_stream() {
    // Keyed by id, not by address: a context may be opened again.
    thread_local std::map<std::uint64_t, Stream*> own;
    Stream*& stream = own[serial_];
    if (!stream) stream = create_stream(CU_STREAM_DEFAULT, 0);
    return *stream;
}

Stream& Context::graph_lane(std::size_t number, int priority) {
    const std::lock_guard lock(mutex_);
    Stream*& lane = graph_lanes_[{priority, number}];
    if (!lane) lane = create_stream_locked(CU_STREAM_NON_BLOCKING, priority);
    return *lane;
}

Stream& Context::export_stream() {
    const std::lock_guard lock(mutex_);
    if (!export_stream_) export_stream_ = create_stream_locked(CU_STREAM_NON_BLOCKING, 0);
    return *export_stream_;
}

Stream* Context::create_stream(unsigned int stream_flags, int priority) {
    const std::lock_guard lock(mutex_);
    return create_stream_locked(stream_flags, priority);
}

Stream* Context::create_stream_locked(unsigned int stream_flags, int priority) {
    const bool blocking = (stream_flags & CU_STREAM_NON_BLOCKING) == 0;
    Queue* queue = least_loaded_queue(blocking);
    auto* stream = new Stream(*this, *queue, stream_flags, priority, next_stream_id_++);
    streams_.insert(stream);
    return stream;
}

void Context::destroy_stream(Stream* stream) {
    forget_stream(*stream);
    const std::lock_guard lock(mutex_);
    --stream->queue.streams;
    if (stream->blocking()) --stream->queue.blocking_streams;
    streams_.erase(stream);
    delete stream;
}

/// Returns a new queue while there is one; afterwards streams share them. Queue 0 belongs to the legacy
/// default stream.
Queue* Context::least_loaded_queue(bool blocking) {
    const std::uint32_t count = queue_count();
    Queue* best = nullptr;
    for (std::uint32_t q = 1; q < count; ++q) {
        if (!best || queues_[q]->streams < best->streams) best = queues_[q].get();
    }
    if (count < kMaxQueues && (!best || best->streams > 0 || !best->idle())) {
        Session session(process_.device());
        Ledger(session).add_queue(gpu_, client_);
        queues_[count] = std::make_unique<Queue>(session.rings().at(gpu_, client_, count),
                                                 Position{gpu_, client_, count, 0}, serial_);
        best = queues_[count].get();
        queue_count_ = count + 1;
    }
    ++best->streams;
    if (blocking) ++best->blocking_streams;
    return best;
}

std::uint64_t Context::push(Queue& queue, Operation operation) {
    while (true) {
        if (const auto sequence = queue.push(operation)) return *sequence;
        observer_.wait_for_room(queue);
    }
}

std::uint64_t Context::submit(Stream& stream, Operation operation) {
    order_with_legacy_stream(stream);
    if (!operation.priority) operation.priority = static_cast<std::int8_t>(stream.priority);
    return push(stream.queue, std::move(operation));
}

void Context::submit_wait(Stream& stream, Queue& on, std::uint64_t sequence) {
    if (&on == &stream.queue || on.observed() > sequence) return;
    Operation wait;
    wait.kind = RecordKind::wait;
    wait.wait_for = on.at(sequence);
    wait.wait_serial = on.client_serial();
    push(stream.queue, std::move(wait));
}

/// Work in the legacy default stream begins after all earlier work in blocking streams, and theirs after its.
void Context::order_with_legacy_stream(Stream& stream) {
    if (!stream.blocking()) return;
    const auto wait_once = [&](Queue& on, std::atomic<std::uint64_t>& until) {
        const std::uint64_t tail = on.tail();
        if (tail <= until.load(std::memory_order_relaxed) || tail <= on.observed()) return;
        until.store(tail, std::memory_order_relaxed);
        submit_wait(stream, on, tail - 1);
    };
    if (&stream != legacy_.get()) {
        wait_once(legacy_->queue, stream.queue.waits_for_legacy_until);
        return;
    }
    for (std::uint32_t q = 1; q < queue_count(); ++q) {
        if (queues_[q]->blocking_streams > 0) wait_once(*queues_[q], queues_[q]->legacy_waits_until);
    }
}

void Context::synchronize() {
    for (std::uint32_t q = 0; q < queue_count(); ++q) {
        const std::uint64_t tail = queues_[q]->tail();
        if (tail > 0) observer_.wait(*queues_[q], tail - 1);
    }
}

}  // namespace simgpu
