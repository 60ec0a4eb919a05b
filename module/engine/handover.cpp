#include "module/engine/handover.hpp"

#include <algorithm>
#include <cstring>

#include "module/engine/records.hpp"

namespace cgpu::module {
namespace {

constexpr std::uint32_t kMagic = 0x63475048;  // "cGPH"
constexpr std::uint64_t kHoldingBytes = sizeof(RecordHead) + 5 * sizeof(std::uint64_t);

void save_compute(RecordWriter& out, GpuCompute& gpu, std::uint32_t index) {
    Meter& meter = gpu.meter();
    out.put_fields(RecordKind::compute, gpu, index);
    out.put_fields(RecordKind::gate, gpu.gate(), index);
    out.put_fields(RecordKind::meter, meter, index, meter.batches().serial());
    out.put_fields(RecordKind::window, meter.window(), index);
    out.put_fields(RecordKind::backlog, meter.backlog(), index);
    out.put_fields(RecordKind::overlap, meter.overlap(), index);
    out.put_fields(RecordKind::waits, gpu.waits(), index);
    out.put_fields(RecordKind::estimating, meter.estimating(), index);
    out.put_fields(RecordKind::sampling, meter.sampling(), index);
    out.put_fields(RecordKind::filled, meter.filled(), index);
    out.put_fields(RecordKind::run_up, meter.run_up(), index);
    meter.busy().each(
        [&](const BusyTime::Interval& each) { out.put(RecordKind::busy, index, each.start, each.end); });
    Functions& functions = meter.functions();
    out.put(RecordKind::functions, index, functions.size(), functions.since_doubt());
    functions.each([&](std::uint64_t function, const Functions::Function& known) {
        out.put(RecordKind::function, index, function, known.mean_ns, known.rough, known.since_sample,
                known.sample_each, known.doubted);
    });
    meter.batches().each([&](Batch& batch) { out.put_fields(RecordKind::batch, batch); });
}

void save_memory(RecordWriter& out, Accounting& accounting) {
    std::uint64_t count = 0;
    accounting.each_count([&](Holding kind, std::uint64_t holdings) {
        count += holdings;
        out.put(RecordKind::room, kind, holdings);
    });
    for (std::uint32_t gpu = 0; gpu < wire::kMaxGpus; ++gpu) {
        const Accounting::Allotment allotment = accounting.allotment(gpu);
        out.put(RecordKind::memory, gpu, allotment.leased, allotment.reserved);
    }
    const Accounting::Changes changes = accounting.changes();
    out.put(RecordKind::changes, changes.pending, changes.freeing, changes.begun);
    // Callers may continue meanwhile: if only the size is needed, it is computed without a walk.
    if (!out.fits()) return out.skip(count * kHoldingBytes);
    accounting.each([&](Holding kind, std::uint64_t key, const Held& held) {
        out.put(RecordKind::holding, kind, key, held.gpu, held.bytes, held.context);
    });
}

bool take_holding(Engine& engine, RecordReader values) {
    const auto kind = values.next<Holding>();
    const auto key = values.next<std::uint64_t>();
    const auto gpu = values.next<std::uint32_t>();
    const auto bytes = values.next<std::uint64_t>();
    return engine.accounting.adopt(kind, key, Held{gpu, bytes, values.next<std::uint64_t>()});
}

bool take_changes(Engine& engine, RecordReader values) {
    Accounting::Changes changes{};
    values(changes.pending);
    values(changes.freeing);
    values(changes.begun);
    return engine.accounting.adopt(changes);
}

bool take_batch(Engine& engine, RecordReader values) {
    Batch batch{};
    batch.gap = true;  // what isn't told of it is not learnt from
    batch.each_field(values);
    batch.function_count = std::min<std::uint32_t>(batch.function_count, Batch::kMostFunctions);
    GpuCompute* gpu = engine.gpu_of(batch.id);
    return gpu != nullptr && gpu->handed_over([&](GpuCompute& of) { return of.meter().adopt(batch); });
}

bool take_function(Meter& meter, RecordReader values) {
    const auto function = values.next<std::uint64_t>();
    Functions::Function known{};
    values(known.mean_ns);
    values(known.rough);
    values(known.since_sample);
    values(known.sample_each);
    values(known.doubted);
    return meter.functions().adopt(function, known);
}

/// Handles a record that begins with the index of its GPU.
bool take_of_gpu(Engine& engine, RecordKind kind, RecordReader values, std::uint64_t most) {
    const auto index = values.next<std::uint32_t>();
    GpuCompute* of = engine.gpu(index);
    if (of == nullptr) return false;
    return of->handed_over([&](GpuCompute& gpu) {
        Meter& meter = gpu.meter();
        switch (kind) {
            case RecordKind::memory: {
                const auto leased = values.next<std::uint64_t>();
                engine.accounting.adopt(index, {leased, values.next<std::uint64_t>()});
                return true;
            }
            case RecordKind::functions: {
                const auto count = std::min(values.next<std::uint64_t>(), most);
                return meter.functions().make_room(count, values.next<std::uint64_t>());
            }
            case RecordKind::function:
                return take_function(meter, values);
            case RecordKind::compute:
                gpu.each_field(values);
                return true;
            case RecordKind::gate:
                gpu.gate().each_field(values);
                return true;
            case RecordKind::meter:
                meter.batches().go_on_from(values.next<std::uint64_t>());
                meter.each_field(values);
                return true;
            case RecordKind::window:
                meter.window().each_field(values);
                return true;
            case RecordKind::backlog:
                meter.backlog().each_field(values);
                return true;
            case RecordKind::overlap:
                meter.overlap().each_field(values);
                return true;
            case RecordKind::waits:
                gpu.waits().each_field(values);
                return true;
            case RecordKind::estimating:
                meter.estimating().each_field(values);
                return true;
            case RecordKind::sampling:
                meter.sampling().each_field(values);
                return true;
            case RecordKind::filled:
                meter.filled().each_field(values);
                return true;
            case RecordKind::run_up:
                meter.run_up().each_field(values);
                return true;
            case RecordKind::busy: {
                const auto start = values.next<std::int64_t>();
                meter.busy().adopt({start, values.next<std::int64_t>()});
                return true;
            }
            case RecordKind::start:
            case RecordKind::room:
            case RecordKind::changes:
            case RecordKind::holding:
            case RecordKind::batch:
                break;
        }
        return true;
    });
}

/// `most`: the maximum number of records.
bool take(Engine& engine, RecordKind kind, RecordReader values, std::uint64_t most) {
    switch (kind) {
        case RecordKind::start:
            return values.next<std::uint32_t>() == kMagic;
        case RecordKind::room: {
            const auto of = values.next<Holding>();
            return engine.accounting.make_room_for(of, std::min(values.next<std::uint64_t>(), most));
        }
        case RecordKind::changes:
            return take_changes(engine, values);
        case RecordKind::holding:
            return take_holding(engine, values);
        case RecordKind::batch:
            return take_batch(engine, values);
        case RecordKind::memory:
        case RecordKind::functions:
        case RecordKind::function:
        case RecordKind::compute:
        case RecordKind::gate:
        case RecordKind::meter:
        case RecordKind::window:
        case RecordKind::backlog:
        case RecordKind::overlap:
        case RecordKind::busy:
        case RecordKind::waits:
        case RecordKind::estimating:
        case RecordKind::sampling:
        case RecordKind::filled:
        case RecordKind::run_up:
            return take_of_gpu(engine, kind, values, most);
    }
    return true;  // of a newer version
}

}  // namespace

std::uint64_t save(Engine& engine, void* buffer, std::uint64_t bytes) {
    RecordWriter out(buffer, buffer == nullptr ? 0 : bytes);
    out.put(RecordKind::start, kMagic);
    for (std::uint32_t index = 0; index < wire::kMaxGpus; ++index) {
        engine.gpus[index].handed_over([&](GpuCompute& gpu) { save_compute(out, gpu, index); });
    }
    save_memory(out, engine.accounting);
    return out.total();
}

bool restore(Engine& engine, const void* saved, std::uint64_t bytes) {
    const auto* at = static_cast<const std::byte*>(saved);
    const std::uint64_t most = bytes / sizeof(RecordHead);
    bool started = false;
    while (bytes > 0) {
        if (bytes < sizeof(RecordHead)) return false;
        RecordHead head{};
        std::memcpy(&head, at, sizeof head);
        at += sizeof head;
        bytes -= sizeof head;
        if (head.bytes > bytes || (!started && head.kind != RecordKind::start)) return false;
        if (!take(engine, head.kind, RecordReader(at, head.bytes), most)) return false;
        started = true;
        at += head.bytes;
        bytes -= head.bytes;
    }
    return started;
}

}  // namespace cgpu::module
