#include "module/engine/handover.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "tests/unit/module/engine/support/engine_fixture.hpp"

namespace cgpu::module::test {
namespace {

std::vector<std::byte> saved(const EngineUnderTest& from) {
    std::vector<std::byte> bytes(from.table.save(from.engine, nullptr, 0));
    EXPECT_EQ(from.table.save(from.engine, bytes.data(), bytes.size()), bytes.size());
    return bytes;
}

/// An engine with holdings, a reservation under way, and a batch on the GPU.
struct Busy : EngineUnderTest {
    BatchId batch = 0;
    Busy() {
        table.lease(engine, 0, 10 * wire::kGranule);
        table.commit(engine, 0, Holding::address, 0x7f0000000100, 1000, 0);
        table.commit(engine, 0, Holding::address, 0x7f0000000600, 1000, 0);
        table.commit(engine, 0, Holding::array, 5, 3 * wire::kGranule, 0);
        table.commit(engine, 0, Holding::array, 5, wire::kGranule, 0);
        table.note_context(engine, Holding::array, 5, 77);
        EXPECT_EQ(table.reserve(engine, 0, 2 * wire::kGranule), 0u);
        Decision decision = enter({0, 0, 7, 1, 42, 1'000'000});
        table.closed(engine, decision.batch, 1'000'000);
        std::uint32_t ring = 0;
        table.reaped(engine, decision.batch, 1'000'000, 4'000'000, 4'000'000, &ring);
        batch = enter({0, 0, 7, 1, 42, 5'000'000}).batch;
        table.closed(engine, batch, 5'000'000);
    }
};

TEST(Handover, TheNextEngineGoesOnWhereThisOneWas) {
    Busy old;
    const std::vector<std::byte> bytes = saved(old);
    EngineUnderTest next;
    Pages pages;
    ASSERT_EQ(next.table.restore(next.engine, bytes.data(), bytes.size()), 1u);
    next.table.bind(next.engine, &pages.orders, &pages.reports);
    const wire::GpuReport& report = pages.reports.gpus[0];
    EXPECT_EQ(report.charged_bytes, 5 * wire::kGranule);
    EXPECT_EQ(report.used_ns, 3'000'000);
    EXPECT_EQ(report.in_flight_ns, 3'000'000);
    EXPECT_EQ(report.launches, 2u);

    EXPECT_EQ(next.table.reserve(next.engine, 0, 4 * wire::kGranule), wire::kGranule);
    next.table.commit(next.engine, 0, Holding::physical, 9, 2 * wire::kGranule, 2 * wire::kGranule);
    EXPECT_EQ(next.table.reserve(next.engine, 0, 3 * wire::kGranule), 0u);

    next.table.release_context(next.engine, 77);
    EXPECT_EQ(next.table.charged(next.engine, 0), 6 * wire::kGranule);

    EXPECT_EQ(next.table.oldest(next.engine, 0, 7), old.batch);
    std::uint32_t ring = 0;
    next.table.reaped(next.engine, old.batch, 5'000'000, 8'000'000, 8'000'000, &ring);
    EXPECT_EQ(report.used_ns, 6'000'000);
    EXPECT_EQ(report.in_flight_ns, 0);
    EXPECT_GT(next.enter({0, 0, 7, 1, 42, 9'000'000}).batch, old.batch);
}

TEST(Handover, ASecondSaveSaysTheSame) {
    Busy old;
    const std::vector<std::byte> bytes = saved(old);
    EngineUnderTest next;
    ASSERT_EQ(next.table.restore(next.engine, bytes.data(), bytes.size()), 1u);
    EXPECT_EQ(saved(next), bytes);
}

TEST(Handover, RecordsOfANewerVersionAreSkipped) {
    Busy old;
    std::vector<std::byte> bytes = saved(old);
    const std::uint32_t unknown[] = {99, 8, 1, 2};
    const auto* raw = reinterpret_cast<const std::byte*>(unknown);
    bytes.insert(bytes.end(), raw, raw + sizeof unknown);
    EngineUnderTest next;
    EXPECT_EQ(next.table.restore(next.engine, bytes.data(), bytes.size()), 1u);
    EXPECT_EQ(next.table.charged(next.engine, 0), 5 * wire::kGranule);
}

RC_GTEST_PROP(Handover, WhatIsCutOffOrSpoiltIsRefusedOrReadWithin, ()) {
    Busy old;
    std::vector<std::byte> bytes = saved(old);
    const auto cut = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
    bytes.resize(cut);
    for (int flips = *rc::gen::inRange(0, 5); flips > 0 && !bytes.empty(); --flips) {
        bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] ^=
            std::byte{*rc::gen::inRange<std::uint8_t>(1, 255)};
    }
    EngineUnderTest next;
    std::uint32_t taken = next.table.restore(next.engine, bytes.data(), bytes.size());
    RC_ASSERT(taken <= 1u);
    if (cut < 8) RC_ASSERT(taken == 0u);
}

TEST(Handover, NothingIsNotUnderstood) {
    EngineUnderTest next;
    EXPECT_EQ(next.table.restore(next.engine, nullptr, 0), 0u);
}

}  // namespace
}  // namespace cgpu::module::test
