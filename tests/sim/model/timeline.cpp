#include "tests/sim/model/timeline.hpp"

#include <algorithm>
#include <cstring>

namespace simgpu {

void copy_used(TimelineState& to, const TimelineState& from) {
    auto* destination = reinterpret_cast<char*>(&to);
    const auto* source = reinterpret_cast<const char*>(&from);
    for_used_pieces(from, [&](std::uint64_t offset, std::uint64_t bytes) {
        std::memcpy(destination + offset, source + offset, bytes);
    });
}

Timeline::Timeline(TimelineState& state, RingTable rings, Stamps stamps)
    : state_(state), rings_(rings), stamps_(stamps) {}

void Timeline::advance(Nanoseconds to) {
    collect_lanes();
    run(to, nullptr);
}

std::optional<Nanoseconds> Timeline::advance_until(const Position& target, Nanoseconds limit) {
    collect_lanes();
    run(limit, &target);
    if (!passed(target)) return std::nullopt;
    return state_.now;
}

void Timeline::collect_lanes() {
    lanes_.clear();
    for (std::uint32_t g = 0; g < state_.gpu_count; ++g) {
        for (std::uint32_t c = 0; c < state_.gpus[g].client_count; ++c) {
            ClientState& client = state_.gpus[g].clients[c];
            if (!client.alive) continue;
            for (std::uint32_t q = 0; q < client.queue_count; ++q) {
                Ring& ring = rings_.at(g, c, q);
                const std::uint64_t tail = ring.tail.load(std::memory_order_acquire);
                if (client.queues[q].head < tail) lanes_.push_back({g, c, q, tail, &ring, &client.queues[q]});
            }
        }
    }
}

void Timeline::run(Nanoseconds to, const Position* target) {
    settle_and_dispatch();
    while (state_.now < to && !(target && passed(*target))) {
        execute(next_event(to));
        settle_and_dispatch();
    }
}

/// Runs everything that takes no time until nothing changes: a completion may free a queue, and what is freed
/// may take the GPU.
void Timeline::settle_and_dispatch() {
    bool changed = true;
    while (changed) {
        changed = settle();
        for (std::uint32_t g = 0; g < state_.gpu_count; ++g) changed |= dispatch(g);
    }
}

bool Timeline::settle() {
    bool any = false;
    bool changed = true;
    while (changed) {
        changed = false;
        for (Lane& lane : lanes_) {
            while (settle_head(lane)) changed = true;
        }
        any |= changed;
    }
    std::erase_if(lanes_, [](const Lane& lane) { return lane.state->head == lane.tail; });
    return any;
}

/// @return whether the queue's first operation completed.
bool Timeline::settle_head(Lane& lane) {
    if (!arrived(lane)) return false;
    Record& record = lane.ring->at(lane.state->head);
    bool done = false;
    switch (record.kind) {
        case RecordKind::transfer:
            done = true;
            break;
        case RecordKind::wait:
            done = wait_is_over(record);
            break;
        case RecordKind::host:
            done = head_becomes_ready(lane) <= state_.now;
            break;
        case RecordKind::mark:
            done = holds_gpu(lane);
            break;
        case RecordKind::kernel:
            if (!holds_gpu(lane) || (!lane.state->begun && outranked(lane, record))) break;
            if (!lane.state->begun) begin(lane, record);
            done = lane.state->remaining <= 0;
            break;
        case RecordKind::rendezvous:
        case RecordKind::spin:
            if (!holds_gpu(lane)) break;
            if (!lane.state->begun) begin(lane, record);
            done = record.kind == RecordKind::spin ? word_is_ready(record) : all_met(lane, record);
            break;
        case RecordKind::copy:
            if (!lane.state->begun) begin(lane, record);
            done = lane.state->remaining <= 0;
            break;
        case RecordKind::wait_word:
            done = word_is_ready(record);
            break;
        case RecordKind::write_word:
            done = true;
            break;
    }
    if (done) complete(lane, record);
    return done;
}

void Timeline::begin(Lane& lane, Record& record) {
    lane.state->begun = 1;
    if (record.kind == RecordKind::kernel || record.kind == RecordKind::copy) {
        lane.state->remaining = std::clamp<Nanoseconds>(record.duration, 0, kLongestKernel) << kWorkShift;
    } else if (record.kind == RecordKind::rendezvous) {
        ClientState& client = state_.gpus[lane.gpu].clients[lane.client];
        client.group = record.value;
        lane.state->ordinal = ++client.rendezvous_begun;
    }
    if (stamps_ == Stamps::write) record.started = state_.now;
}

void Timeline::complete(Lane& lane, Record& record) {
    const bool writes = record.kind == RecordKind::write_word || record.kind == RecordKind::kernel;
    if (writes && record.word > 0) state_.words[record.word - 1].value = record.value;
    if (stamps_ == Stamps::write) {
        if (!lane.state->begun) record.started = state_.now;
        record.completed = state_.now;
        record.order = state_.order;
    }
    ++state_.order;
    ++lane.state->head;
    lane.state->begun = 0;
    lane.state->remaining = 0;
}

/// Decides which client holds the GPU now. @return whether that changed.
bool Timeline::dispatch(std::uint32_t g) {
    GpuState& gpu = state_.gpus[g];
    if (state_.now < gpu.switch_end) return false;
    const bool has_work = gpu.active >= 0 && std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
                              return lane.gpu == g && holds_gpu(lane) && needs_gpu(lane);
                          });
    if (has_work) {
        // It can exceed its slice only because it was alone: the slice was renewed on its grid.
        const Nanoseconds renewals = (state_.now - gpu.slice_end + gpu.slice - 1) / gpu.slice;
        gpu.slice_end += std::max<Nanoseconds>(renewals, 0) * gpu.slice;
        if (state_.now < gpu.slice_end) return false;
    }
    const std::int32_t next = next_client(g);
    if (next < 0) return false;
    gpu.switch_end = gpu.active < 0 ? state_.now : state_.now + gpu.switch_cost;
    gpu.slice_end = gpu.switch_end + gpu.slice;
    gpu.active = next;
    return true;
}

/// Returns the next client in turn, other than the active one, that has work for the GPU now; -1: none.
std::int32_t Timeline::next_client(std::uint32_t g) const {
    const std::int32_t active = state_.gpus[g].active;
    std::int32_t first = -1;
    std::int32_t after = -1;
    for (const Lane& lane : lanes_) {
        const auto client = static_cast<std::int32_t>(lane.client);
        if (lane.gpu != g || client == active || !needs_gpu(lane)) continue;
        if (first < 0) first = client;
        if (after < 0 && client > active) after = client;
    }
    return after >= 0 ? after : first;
}

void Timeline::execute(Nanoseconds to) {
    const Nanoseconds elapsed = to - state_.now;
    for (std::uint32_t g = 0; g < state_.gpu_count; ++g) {
        execute_copies(g, elapsed);
        const std::int64_t sharers = executing_count(g);
        if (sharers == 0) continue;
        GpuState& gpu = state_.gpus[g];
        gpu.busy.add(state_.now, to);
        gpu.clients[gpu.active].served.add(state_.now, to);
        for (Lane& lane : lanes_) {
            if (lane.gpu == g && executing(lane)) lane.state->remaining -= (elapsed << kWorkShift) / sharers;
        }
    }
    state_.now = to;
}

void Timeline::execute_copies(std::uint32_t g, Nanoseconds elapsed) {
    for (std::uint32_t engine = 0; engine < kCopyEngines; ++engine) {
        const std::int64_t sharers = copying_count(g, engine);
        if (sharers == 0) continue;
        for (Lane& lane : lanes_) {
            if (lane.gpu != g || !copying(lane) || lane.ring->at(lane.state->head).engine != engine) continue;
            lane.state->remaining -= (elapsed << kWorkShift) / sharers;
        }
    }
}

Nanoseconds Timeline::next_event(Nanoseconds limit) const {
    Nanoseconds next = limit;
    for (std::uint32_t g = 0; g < state_.gpu_count; ++g) {
        const GpuState& gpu = state_.gpus[g];
        if (gpu.switch_end > state_.now) next = std::min(next, gpu.switch_end);
        if (gpu.slice_end > state_.now && next_client(g) >= 0) next = std::min(next, gpu.slice_end);
    }
    for (const Lane& lane : lanes_) {
        const Nanoseconds ready = head_becomes_ready(lane);
        if (ready > state_.now) next = std::min(next, ready);
        const Record& head = lane.ring->at(lane.state->head);
        const bool runs = executing(lane) && head.kind == RecordKind::kernel;
        if (!runs && !copying(lane)) continue;
        const std::int64_t sharers = runs ? executing_count(lane.gpu) : copying_count(lane.gpu, head.engine);
        const std::int64_t work = lane.state->remaining * sharers;
        const std::int64_t unit = std::int64_t{1} << kWorkShift;
        next = std::min(next, state_.now + (work + unit - 1) / unit);
    }
    return next;
}

/// Returns when the first operation may begin, as far as the host decides it.
Nanoseconds Timeline::head_becomes_ready(const Lane& lane) const {
    const Record& record = lane.ring->at(lane.state->head);
    if (record.kind != RecordKind::host || record.arrival > state_.now) return record.arrival;
    const Nanoseconds released = record.released.load(std::memory_order_acquire);
    return released == 0 ? kNever : released;
}

bool Timeline::arrived(const Lane& lane) const {
    return lane.state->head < lane.tail && lane.ring->at(lane.state->head).arrival <= state_.now;
}

bool Timeline::needs_gpu(const Lane& lane) const {
    if (!arrived(lane)) return false;
    const RecordKind kind = lane.ring->at(lane.state->head).kind;
    return kind == RecordKind::kernel || kind == RecordKind::rendezvous || kind == RecordKind::spin ||
           kind == RecordKind::mark;
}

bool Timeline::holds_gpu(const Lane& lane) const {
    const GpuState& gpu = state_.gpus[lane.gpu];
    return gpu.active == static_cast<std::int32_t>(lane.client) && state_.now >= gpu.switch_end;
}

bool Timeline::copying(const Lane& lane) const {
    return lane.state->begun && lane.ring->at(lane.state->head).kind == RecordKind::copy;
}

bool Timeline::executing(const Lane& lane) const {
    return lane.state->begun && holds_gpu(lane) && !copying(lane);
}

/// Whether a more urgent kernel of the same context is running or could run. Spinning kernels do not count:
/// they leave room for what they wait for.
bool Timeline::outranked(const Lane& lane, const Record& record) const {
    return std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& other) {
        if (other.gpu != lane.gpu || other.client != lane.client || !arrived(other)) return false;
        const Record& head = other.ring->at(other.state->head);
        return head.kind == RecordKind::kernel && head.priority < record.priority;
    });
}

bool Timeline::word_is_ready(const Record& record) const {
    return is_satisfied(state_.words[record.word - 1], record.compare, record.value);
}

std::int64_t Timeline::executing_count(std::uint32_t g) const {
    return std::count_if(lanes_.begin(), lanes_.end(),
                         [&](const Lane& lane) { return lane.gpu == g && executing(lane); });
}

std::int64_t Timeline::copying_count(std::uint32_t g, std::uint32_t engine) const {
    return std::count_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
        return lane.gpu == g && copying(lane) && lane.ring->at(lane.state->head).engine == engine;
    });
}

bool Timeline::wait_is_over(const Record& record) const {
    const ClientState& client = state_.gpus[record.wait_gpu].clients[record.wait_client];
    if (!client.alive || client.serial != record.wait_serial) return true;
    return client.queues[record.wait_queue].head > record.wait_sequence;
}

bool Timeline::all_met(const Lane& lane, const Record& record) const {
    const ClientState& own = state_.gpus[lane.gpu].clients[lane.client];
    const auto meets = [&own](const ClientState& other) {
        return other.group == own.group && (own.group != 0 || other.process == own.process);
    };
    std::uint32_t met = 0;
    for (std::uint32_t g = 0; g < state_.gpu_count; ++g) {
        const GpuState& gpu = state_.gpus[g];
        met += std::any_of(gpu.clients, gpu.clients + gpu.client_count, [&](const ClientState& client) {
            // A member of a group that has met and ended has met; the contexts of its own process all go on
            // together.
            return (client.alive || own.group != 0) && meets(client) &&
                   client.rendezvous_begun >= lane.state->ordinal;
        });
    }
    return met >= record.gpus;
}

bool Timeline::passed(const Position& target) const {
    return state_.gpus[target.gpu].clients[target.client].queues[target.queue].head > target.sequence;
}

}  // namespace simgpu
