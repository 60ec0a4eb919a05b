#include "module/engine/handover.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace cgpu::module {
namespace {

constexpr std::uint32_t kMagic = 0x63475048;  // "cGPH"

enum class Kind : std::uint32_t { start = 1, memory = 2, holding = 3, compute = 4, batch = 5 };

struct Head {
    Kind kind;
    std::uint32_t bytes;
};
static_assert(sizeof(Head) == 8);

struct Start {
    static constexpr Kind kKind = Kind::start;
    std::uint32_t magic;
    std::uint32_t reserved;
};
static_assert(sizeof(Start) == 8);

struct Memory {
    static constexpr Kind kKind = Kind::memory;
    std::uint64_t gpu, leased, reserved;
};
static_assert(sizeof(Memory) == 24);

struct HoldingRecord {
    static constexpr Kind kKind = Kind::holding;
    std::uint32_t holding, gpu;
    std::uint64_t key, bytes, context;
};
static_assert(sizeof(HoldingRecord) == 32);

struct Compute {
    static constexpr Kind kKind = Kind::compute;
    std::uint64_t gpu, launches;
    std::int64_t used_ns, longest_ns, waited_ns, usual_gap_ns;
};
static_assert(sizeof(Compute) == 48);

struct BatchRecord {
    static constexpr Kind kKind = Kind::batch;
    std::uint64_t id, context, stream, last_function;
    std::int64_t first_ns, last_ns, start_ns, closed_ns, estimate_ns, each_ns;
    std::uint32_t state, launches, unmeasured, reserved;
};
static_assert(sizeof(BatchRecord) == 96);

/// Counts what doesn't fit, too.
class Writer {
  public:
    Writer(void* buffer, std::uint64_t bytes) : at_(static_cast<std::byte*>(buffer)), room_(bytes) {}

    template <class Record>
    void put(const Record& record) {
        const Head head{Record::kKind, sizeof(Record)};
        put_bytes(&head, sizeof head);
        put_bytes(&record, sizeof record);
    }
    std::uint64_t total() const { return total_; }

  private:
    void put_bytes(const void* from, std::size_t bytes) {
        total_ += bytes;
        if (at_ == nullptr || total_ > room_) return;
        std::memcpy(at_, from, bytes);
        at_ += bytes;
    }

    std::byte* at_;
    std::uint64_t room_;
    std::uint64_t total_ = 0;
};

template <class Record>
Record read(const std::byte* payload, std::uint32_t bytes) {
    Record record{};
    std::memcpy(&record, payload, std::min<std::size_t>(bytes, sizeof record));
    return record;
}

bool take(Engine& engine, const Memory& memory) {
    if (memory.gpu >= wire::kMaxGpus) return false;
    engine.accounting.adopt(static_cast<std::uint32_t>(memory.gpu), {memory.leased, memory.reserved});
    return true;
}

bool take(Engine& engine, const HoldingRecord& record) {
    const auto kind = static_cast<Holding>(record.holding);
    engine.accounting.commit(record.gpu, kind, record.key, record.bytes, 0);
    engine.accounting.note_context(kind, record.key, record.context);
    Held held{};
    return engine.accounting.find(kind, record.key, held);
}

bool take(Engine& engine, const Compute& record) {
    if (record.gpu >= wire::kMaxGpus) return false;
    GpuCompute::Saved saved{};
    saved.figures.used_ns = record.used_ns;
    saved.figures.longest_ns = record.longest_ns;
    saved.figures.launches = record.launches;
    saved.waited_ns = record.waited_ns;
    saved.usual_gap_ns = record.usual_gap_ns;
    engine.gpus[record.gpu].restore(saved);
    return true;
}

bool take(Engine& engine, const BatchRecord& record) {
    GpuCompute* gpu = engine.gpu_of(record.id);
    if (gpu == nullptr) return false;
    Batch batch{};
    batch.id = record.id;
    batch.state = static_cast<BatchState>(record.state);
    batch.context = record.context;
    batch.stream = record.stream;
    batch.first_ns = record.first_ns;
    batch.last_ns = record.last_ns;
    batch.start_ns = record.start_ns;
    batch.closed_ns = record.closed_ns;
    batch.estimate_ns = record.estimate_ns;
    batch.each_ns = record.each_ns;
    batch.last_function = record.last_function;
    batch.launches = record.launches;
    batch.unmeasured = record.unmeasured != 0;
    batch.gap = true;  // what is not handed over of it is not learnt from
    return gpu->restore(batch);
}

bool take_any(Engine& engine, const Head& head, const std::byte* payload) {
    switch (head.kind) {
        case Kind::start:
            return read<Start>(payload, head.bytes).magic == kMagic;
        case Kind::memory:
            return take(engine, read<Memory>(payload, head.bytes));
        case Kind::holding:
            return take(engine, read<HoldingRecord>(payload, head.bytes));
        case Kind::compute:
            return take(engine, read<Compute>(payload, head.bytes));
        case Kind::batch:
            return take(engine, read<BatchRecord>(payload, head.bytes));
    }
    return true;  // of a newer version
}

}  // namespace

std::uint64_t save(Engine& engine, void* buffer, std::uint64_t bytes) {
    Writer out(buffer, bytes);
    out.put(Start{kMagic, 0});
    for (std::uint32_t index = 0; index < wire::kMaxGpus; ++index) {
        const Accounting::Allotment allotment = engine.accounting.allotment(index);
        out.put(Memory{index, allotment.leased, allotment.reserved});
        const GpuCompute::Saved saved = engine.gpus[index].saved();
        out.put(Compute{index, saved.figures.launches, saved.figures.used_ns, saved.figures.longest_ns,
                        saved.waited_ns, saved.usual_gap_ns});
        engine.gpus[index].each_batch([&](const Batch& batch) {
            out.put(BatchRecord{batch.id, batch.context, batch.stream, batch.last_function, batch.first_ns,
                                batch.last_ns, batch.start_ns, batch.closed_ns, batch.estimate_ns,
                                batch.each_ns, static_cast<std::uint32_t>(batch.state), batch.launches,
                                batch.unmeasured ? 1u : 0u, 0});
        });
    }
    engine.accounting.each([&](Holding kind, std::uint64_t key, const Held& held) {
        out.put(HoldingRecord{static_cast<std::uint32_t>(kind), held.gpu, key, held.bytes, held.context});
    });
    return out.total();
}

bool restore(Engine& engine, const void* saved, std::uint64_t bytes) {
    const auto* at = static_cast<const std::byte*>(saved);
    bool started = false;
    while (bytes > 0) {
        if (bytes < sizeof(Head)) return false;
        const Head head = read<Head>(at, sizeof(Head));
        at += sizeof(Head);
        bytes -= sizeof(Head);
        if (head.bytes > bytes || (!started && head.kind != Kind::start)) return false;
        if (!take_any(engine, head, at)) return false;
        started = true;
        at += head.bytes;
        bytes -= head.bytes;
    }
    return started;
}

}  // namespace cgpu::module
