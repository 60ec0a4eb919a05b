#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>

#include "core/wire/pages.hpp"
#include "module/engine/abi/api.hpp"

namespace cgpu::module::test {

constexpr std::int64_t kMicro = 1'000;
constexpr std::int64_t kMilli = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

/// Memory of the host that can run out.
inline std::atomic<std::int64_t> allocations_left{INT64_MAX};
inline std::atomic<std::int64_t> allocations_held{0};

inline EngineHost host() {
    return {[](std::uint64_t bytes) -> void* {
                if (allocations_left.fetch_sub(1) <= 0) return nullptr;
                ++allocations_held;
                return std::malloc(bytes);
            },
            [](void* memory) {
                if (memory != nullptr) --allocations_held;
                std::free(memory);
            }};
}

/// The two pages, with one GPU whose gate is open, isolation on, nothing leased.
struct Pages {
    wire::Orders orders{};
    wire::Reports reports{};

    Pages() {
        orders.gpu_count = 1;
        orders.hold_ns = 200'000'000;
        for (auto& gpu : orders.gpus) gpu.isolate_memory = 1;
        for (auto& gate : orders.gates) {
            gate.state = static_cast<std::uint32_t>(wire::GateState::open);
            gate.limit_ns = INT64_MAX;
            gate.window_us = 2000;
        }
    }
    void set(wire::GateState state, std::int64_t limit_ns = INT64_MAX, std::int64_t holds_until_ns = 0) {
        wire::Gate& gate = orders.gates[0];
        gate.state = static_cast<std::uint32_t>(state);
        gate.limit_ns = limit_ns;
        gate.holds_until_ns = holds_until_ns;
        ++gate.seq;
    }
};

/// An engine behind its table, as a front has it.
struct EngineUnderTest {
    const EngineTable& table = *cgpu_engine_table();
    EngineHost memory = host();
    Engine* engine = table.create(&memory);

    EngineUnderTest() = default;
    ~EngineUnderTest() { table.destroy(engine); }
    EngineUnderTest(const EngineUnderTest&) = delete;
    EngineUnderTest& operator=(const EngineUnderTest&) = delete;

    /// Asks for one launch, and returns what is granted for further ones.
    Decision enter(const Launch& launch) const {
        TimeGrant grant = request_time({launch, 0, 0, 0, 0});
        if (grant.close_first != 0) table.closed(engine, grant.close_first, launch.now_ns);
        if (grant.decision.more != 0)
            table.return_time(engine, launch.gpu, grant.decision.batch, grant.decision.more, grant.time_ns);
        grant.decision.more = 0;
        return grant.decision;
    }
    TimeGrant request_time(const TimeRequest& request) const {
        TimeGrant grant{};
        table.request_time(engine, &request, &grant);
        return grant;
    }
};

}  // namespace cgpu::module::test
