#include "daemon/app/trace/traces.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "daemon/app/ports/lookup.hpp"

namespace cgpu::app {
namespace {

using Reason = model::Refusal::Reason;

trace::Record start_of(const model::Node& node, const model::Gpu& gpu, Nanos now, std::uint64_t wall_clock) {
    trace::Record start{trace::Kind::start, 0, now, now, {}, {}};
    start.values = {static_cast<std::int64_t>(wall_clock), gpu.index, trace::kFormat, 0};
    start.text = gpu.uuid.to_string() + '\n' + gpu.model_name + '\n' +
                 std::string(model::to_string(node.policy_in_force(gpu)));
    return start;
}

}  // namespace

Result<int> Traces::start(const model::Uuid& uuid, std::uint32_t seconds, const Who& who) {
    const auto* node = outside_.node();
    const auto* gpu = node == nullptr ? nullptr : node->find_gpu(uuid);
    if (gpu == nullptr)
        return model::refuse(Reason::not_found, "a trace of " + uuid.to_string(), "there is no such GPU",
                             "cgpuctl status");
    const auto what = "a trace of GPU " + std::to_string(gpu->index);
    if (seconds == 0 || seconds > kMostSeconds)
        return model::refuse(Reason::invalid, what,
                             std::to_string(seconds) + " seconds are not from 1 to 3600", "use 10");
    if (const auto other = traces_.find(uuid); other != traces_.end())
        return model::refuse(Reason::busy, what, "it is traced already, by " + describe(other->second.reader),
                             "wait until that trace has ended");
    auto opened = outside_.streams.open();
    if (!opened) return tl::unexpected(opened.error());
    const Nanos now = outside_.loop.now();
    if (!outside_.compute.begin_trace(uuid, start_of(*node, *gpu, now, outside_.wall_clock())))
        return model::refuse(Reason::unsupported, what, "its compute is not divided yet", "wait a second");
    auto& trace = traces_[uuid];
    trace.stream = std::move(opened->stream);
    trace.reader = who;
    trace.ends_at = now + Nanos{seconds} * kSecond;
    if (!next_tick_) next_tick_ = outside_.loop.at(now + kEvery, [this] { tick(); });
    return opened->reader_fd;
}

void Traces::stop() {
    for (auto& [gpu, trace] : traces_) {
        if (!trace.ended) collect(gpu, trace, true);
        send(trace);
    }
    traces_.clear();
    next_tick_.reset();
}

/// Whether the event belongs into the trace: it is about the GPU, about an instance on it, or about the node
/// as a whole.
bool Traces::concerns(const Event& event, const model::Uuid& gpu, const Trace& trace) const {
    if (event.gpu) return event.gpu == gpu;
    if (!event.instance) return true;
    const auto* node = outside_.node();
    const auto* instance = node == nullptr ? nullptr : node->find_instance(*event.instance);
    return instance != nullptr ? instance->quota_on(gpu) != nullptr : trace.memory.contains(*event.instance);
}

void Traces::happened(const Event& event, const Stamp&) {
    if (traces_.empty()) return;
    const auto now = outside_.loop.now();
    for (const auto& [gpu, trace] : traces_) {
        if (trace.ended || !concerns(event, gpu, trace)) continue;
        trace::Record record{trace::Kind::event, 0, now, now, {}, {}};
        record.text = std::string(kind_of(event.type).name) + '\n' + event.message;
        outside_.compute.note(gpu, std::move(record), event.instance);
    }
}

void Traces::tick() {
    const auto now = outside_.loop.now();
    for (auto& [gpu, trace] : traces_) advance(gpu, trace, now);
    std::erase_if(traces_, [](const auto& each) { return each.second.is_over; });
    next_tick_ = traces_.empty() ? nullptr : outside_.loop.at(now + kEvery, [this] { tick(); });
}

void Traces::advance(const model::Uuid& gpu, Trace& trace, Nanos now) {
    if (trace.ended) {
        send(trace);
        trace.is_over = trace.is_over || trace.bytes.empty() || now >= trace.ends_at;
        return;
    }
    if (now >= trace.memory_at) read_memory(gpu, trace, now);
    const bool last = now >= trace.ends_at || trace.stream->reader() == TraceStream::Reader::is_done;
    if (last || trace.bytes.size() - trace.sent < kMostWaiting) collect(gpu, trace, last);
    send(trace);
    if (trace.is_over && !trace.ended) outside_.compute.end_trace(gpu, trace.cost, trace.spare);
    if (trace.ended) {
        trace.ends_at = now + kPatience;
        trace.is_over = trace.is_over || trace.bytes.empty();
    }
    trace.cost += outside_.loop.now() - now;
}

void Traces::read_memory(const model::Uuid& gpu, Trace& trace, Nanos now) {
    trace.memory_at = now + kMemoryEvery;
    const auto* node = outside_.node();
    if (node == nullptr) return;
    for (const auto* instance : instances_on(*node, gpu)) {
        const auto usage = outside_.usage.usage(instance->id, gpu);
        auto& before = trace.memory[instance->id];
        const Memory memory{usage.memory_used, usage.memory_leased, usage.memory_limit,
                            usage.allocations_refused, true};
        if (trace.memory_known && memory.refused > before.refused) {
            trace::Record record{trace::Kind::refused, 0, now, now, {}, {}};
            record.values[0] = static_cast<std::int64_t>(memory.refused - before.refused);
            outside_.compute.note(gpu, std::move(record), instance->id);
        }
        if (!before.known || memory.used != before.used || memory.leased != before.leased ||
            memory.limit != before.limit) {
            trace::Record record{trace::Kind::memory, 0, now, now, {}, {}};
            record.values = {static_cast<std::int64_t>(memory.used), static_cast<std::int64_t>(memory.leased),
                             static_cast<std::int64_t>(memory.limit), 0};
            outside_.compute.note(gpu, std::move(record), instance->id);
        }
        before = memory;
    }
    trace.memory_known = true;
}

void Traces::collect(const model::Uuid& gpu, Trace& trace, bool last) {
    trace.bytes.erase(trace.bytes.begin(), trace.bytes.begin() + static_cast<std::ptrdiff_t>(trace.sent));
    trace.sent = 0;
    if (last)
        outside_.compute.end_trace(gpu, trace.cost, trace.spare);
    else
        outside_.compute.take_trace(gpu, trace.spare);
    for (const auto& record : trace.spare) trace::encode(record, trace.bytes);
    trace.spare.clear();  // here, where no lock is held
    trace.ended = trace.ended || last;
}

void Traces::send(Trace& trace) {
    while (trace.sent < trace.bytes.size()) {
        const auto taken = trace.stream->send(std::span(trace.bytes).subspan(trace.sent));
        if (!taken) trace.is_over = true;
        if (!taken || *taken == 0) return;
        trace.sent += *taken;
    }
    trace.bytes.clear();
    trace.sent = 0;
}

}  // namespace cgpu::app
