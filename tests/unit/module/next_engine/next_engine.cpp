// The engine of a next version, for tests of upgrades. It keeps its state in another structure
// (module/engine/base/map.hpp beside this file); each of its records is longer by a value; it has a kind
// of its own, which counts the engines that its accounts have come through; and its table has one function
// more. The rest is this version's sources, whose table the build has renamed.
#include <cstring>
#include <mutex>
#include <vector>

#include "module/engine/abi/api.hpp"
#include "module/engine/records.hpp"

#undef cgpu_engine_table

namespace cgpu::module {

extern "C" const EngineTable* plain_engine_table();

namespace {

constexpr auto kHistory = static_cast<RecordKind>(1000);
constexpr std::uint64_t kAddedValue = 0xfeed;

/// How many engines each engine's accounts have come through. Nothing here has a destructor: one would run at
/// the process's exit, while its threads still run.
struct History {
    Engine* engine;
    std::uint64_t engines_before;
};
std::mutex mutex;
History histories[16];  // more than there are at a time

/// The mutex is held.
std::uint64_t& engines_before(Engine* engine) {
    History* free = nullptr;
    for (History& each : histories) {
        if (each.engine == engine) return each.engines_before;
        if (each.engine == nullptr) free = &each;
    }
    *free = {engine, 0};
    return free->engines_before;
}

using Bytes = std::vector<std::byte>;

void append(Bytes& to, const void* from, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    to.insert(to.end(), at, at + bytes);
}

void append_record(Bytes& to, RecordKind kind, const std::byte* values, std::uint32_t bytes,
                   std::uint64_t added) {
    const RecordHead head{kind, bytes + static_cast<std::uint32_t>(sizeof added)};
    append(to, &head, sizeof head);
    append(to, values, bytes);
    append(to, &added, sizeof added);
}

template <class Visit>  // void(RecordHead, const std::byte* values)
void each_record(const Bytes& records, Visit visit) {
    for (std::size_t at = 0; at < records.size();) {
        RecordHead head{};
        std::memcpy(&head, records.data() + at, sizeof head);
        at += sizeof head;
        visit(head, records.data() + at);
        at += head.bytes;
    }
}

std::uint64_t save_longer(Engine* engine, void* buffer, std::uint64_t room) {
    const EngineTable& plain = *plain_engine_table();
    Bytes records(plain.save(engine, nullptr, 0));
    if (buffer == nullptr) return 2 * records.size();
    const auto used = plain.save(engine, records.data(), records.size());
    if (used > records.size()) return 2 * used;
    records.resize(used);
    Bytes longer;
    each_record(records, [&](const RecordHead& head, const std::byte* values) {
        append_record(longer, head.kind, values, head.bytes, kAddedValue);
        if (head.kind != RecordKind::start) return;
        const std::lock_guard lock(mutex);
        append_record(longer, kHistory, nullptr, 0, engines_before(engine));
    });
    if (longer.size() <= room) std::memcpy(buffer, longer.data(), longer.size());
    return longer.size();
}

std::uint32_t restore_longer(Engine* engine, const void* saved, std::uint64_t bytes) {
    if (plain_engine_table()->restore(engine, saved, bytes) == 0) return 0;
    const auto* at = static_cast<const std::byte*>(saved);
    const std::lock_guard lock(mutex);
    engines_before(engine) = 1;
    each_record(Bytes(at, at + bytes), [&](const RecordHead& head, const std::byte* values) {
        if (head.kind == kHistory)
            engines_before(engine) = 1 + RecordReader(values, head.bytes).next<std::uint64_t>();
    });
    return 1;
}

void destroy(Engine* engine) {
    {
        const std::lock_guard lock(mutex);
        for (History& each : histories)
            if (each.engine == engine) each = History{};
    }
    plain_engine_table()->destroy(engine);
}

struct NextTable {
    EngineTable table;
    std::uint64_t (*engines_before)(Engine*);
};

NextTable next_of(EngineTable table) {
    table.bytes = sizeof(NextTable);
    table.save = save_longer;
    table.restore = restore_longer;
    table.destroy = destroy;
    return {table, [](Engine* engine) {
                const std::lock_guard lock(mutex);
                return engines_before(engine);
            }};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const EngineTable* cgpu_engine_table() {
    static const NextTable next = next_of(*plain_engine_table());
    return &next.table;
}

}  // namespace cgpu::module
