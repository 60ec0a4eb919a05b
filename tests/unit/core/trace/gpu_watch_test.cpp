// What a trace tells, judged by the GPU in virtual time.
#include "core/trace/gpu_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/schedule/slicer.hpp"
#include "tests/unit/core/schedule/machine/schedule_world.hpp"

namespace cgpu::trace {
namespace {

using schedule::GateOrder;
using schedule::kMicro;
using schedule::kMilli;
using schedule::kSecond;
using schedule::Turn;
using schedule::sim::World;

std::vector<Record> taken(GpuWatch& watch) {
    std::vector<Record> records;
    watch.buffer().take(records);
    return records;
}

std::vector<Record> of_kind(const std::vector<Record>& records, Kind kind, std::uint16_t track = 0) {
    std::vector<Record> some;
    std::copy_if(records.begin(), records.end(), std::back_inserter(some), [&](const Record& record) {
        return record.kind == kind && (track == 0 || record.track == track);
    });
    return some;
}

/// A program that always has work: kernels of this length.
schedule::sim::Workload always(Nanos kernel) {
    schedule::sim::Workload work;
    work.kernels = {kernel};
    return work;
}

Turn turn_of(std::size_t slot, Nanos start) {
    Turn turn;
    turn.slot = slot;
    turn.start = start;
    return turn;
}

/// A world whose first GPU is traced.
struct Traced {
    explicit Traced(model::Policy policy, const schedule::sim::Latency& latency = schedule::sim::kQuiet)
        : world(settings(policy), latency) {}
    static schedule::Settings settings(model::Policy policy) {
        schedule::Settings settings;
        settings.policy = policy;
        return settings;
    }
    void begin() {
        watch.emplace(world.now(), 1'000'000);
        for (std::size_t slot = 0; slot < weights.size(); ++slot)
            watch->joined(slot, world.now(), "id", "name", weights[slot], false);
        world.watch_steps(
            [this](Nanos now, const schedule::Readings& readings, const schedule::Decision& decision) {
                GpuWatch::SeenSlots seen;
                for (std::size_t slot = 0; slot < weights.size(); ++slot)
                    seen[slot] = GpuWatch::Seen{readings[slot], 0, decision.gates[slot]};
                watch->step(now, seen, world.slicer().turn());
            });
        world.mark();
    }
    /// With a step at least every 5 ms, as the daemon makes them.
    void run_for(Nanos duration) {
        for (const Nanos end = world.now() + duration; world.now() < end;) {
            world.poke();
            world.run_for(5 * kMilli);
        }
    }
    void add(schedule::sim::Workload work, int weight) {
        weights.push_back(weight);
        world.add({std::move(work), weight});
    }
    std::vector<Record> end() {
        watch->finish(world.now(), 7, 11);
        return taken(*watch);
    }

    World world;
    std::vector<int> weights;
    std::optional<GpuWatch> watch;
};

void expect_no_overlap(const std::vector<Record>& spans) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
        EXPECT_LE(spans[i].begin, spans[i].end);
        if (i > 0) {
            EXPECT_LE(spans[i - 1].end, spans[i].begin);
        }
    }
}

void expect_sums_to(const std::vector<Record>& spans, Nanos served) {
    Nanos sum = 0;
    for (const auto& span : spans) sum += span.values[0];
    EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(served), static_cast<double>(served) / 100);
}

TEST(TraceWatch, TurnsAndWorkAddUpToTheGpuTimeOfEachTenant) {
    for (const auto policy :
         {model::Policy::preemptive, model::Policy::weighted, model::Policy::fixed, model::Policy::soft}) {
        SCOPED_TRACE(model::to_string(policy));
        Traced traced(policy);
        traced.add(always(kMilli), 1);
        traced.add(always(200 * kMicro), 2);
        auto bursts = always(50 * kMicro);
        bursts.burst = 20;
        bursts.think = kMilli;
        traced.add(bursts, 4);
        traced.world.run_for(kSecond);
        traced.begin();
        traced.run_for(5 * kSecond);
        const auto records = traced.end();
        expect_no_overlap(of_kind(records, Kind::turn));
        for (std::size_t slot = 0; slot < 3; ++slot) {
            const auto track = static_cast<std::uint16_t>(slot + 1);
            SCOPED_TRACE(track);
            expect_sums_to(of_kind(records, Kind::turn, track), traced.world.served(slot));
            expect_sums_to(of_kind(records, Kind::work, track), traced.world.served(slot));
            expect_no_overlap(of_kind(records, Kind::work, track));
            Nanos drawn = 0;
            for (const auto& work : of_kind(records, Kind::work, track)) drawn += work.end - work.begin;
            EXPECT_NEAR(static_cast<double>(drawn), static_cast<double>(traced.world.served(slot)),
                        static_cast<double>(traced.world.served(slot)) / 50);
            auto gate = of_kind(records, Kind::wait, track);
            for (auto& each : of_kind(records, Kind::open, track)) gate.push_back(each);
            std::ranges::sort(gate, {}, [](const Record& each) { return std::pair(each.begin, each.end); });
            expect_no_overlap(gate);
        }
        ASSERT_EQ(records.back().kind, Kind::end);
        EXPECT_EQ(records.back().values,
                  (std::array<std::int64_t, 4>{7, static_cast<std::int64_t>(records.size()), 0, 11}));
    }
}

TEST(TraceWatch, ATenantThatAlwaysWantsTheGpuWaitsWhileOthersHaveTheirTurns) {
    Traced traced(model::Policy::preemptive);
    traced.add(always(kMilli), 1);
    traced.add(always(kMilli), 1);
    traced.world.run_for(kSecond);
    traced.begin();
    traced.run_for(2 * kSecond);
    const auto records = traced.end();
    // Its gate is open, or it waits.
    Nanos waits = 0, open = 0, others = 0;
    for (const auto& wait : of_kind(records, Kind::wait, 1)) waits += wait.end - wait.begin;
    for (const auto& turn : of_kind(records, Kind::turn, 1))
        open += (turn.values[1] > 0 ? turn.values[1] : turn.end) - turn.begin;
    for (const auto& turn : of_kind(records, Kind::turn, 2)) others += turn.end - turn.begin;
    EXPECT_NEAR(static_cast<double>(waits + open), 2e9, 0.05 * 2e9);
    EXPECT_GT(static_cast<double>(waits), 0.95 * static_cast<double>(others));
    EXPECT_NEAR(static_cast<double>(others), 1e9, 0.05 * 1e9);
}

TEST(TraceWatch, WhatBeganBeforeTheTraceIsCutToIt) {
    Traced traced(model::Policy::preemptive);
    traced.add(always(kMilli), 1);
    traced.world.run_for(kSecond);
    traced.begin();
    traced.run_for(kSecond);
    const auto records = traced.end();
    const auto turns = of_kind(records, Kind::turn);
    ASSERT_EQ(turns.size(), 1U) << "alone, it has one turn";
    EXPECT_EQ(turns[0].begin, kSecond);
    EXPECT_EQ(turns[0].values[2], kUnfinished);
    for (const auto& work : of_kind(records, Kind::work)) EXPECT_GE(work.begin, kSecond);
    EXPECT_TRUE(of_kind(records, Kind::wait).empty());
}

TEST(TraceWatch, UnderNativeNothingIsDivided) {
    Traced traced(model::Policy::native);
    traced.add(always(kMilli), 1);
    traced.add(always(kMilli), 1);
    traced.begin();
    traced.run_for(kSecond);
    traced.world.slicer().set_policy(model::Policy::preemptive);
    traced.world.poke();
    traced.run_for(kSecond);
    const auto records = traced.end();
    for (const std::uint16_t track : {std::uint16_t{1}, std::uint16_t{2}}) {
        const auto open = of_kind(records, Kind::open, track);
        ASSERT_EQ(open.size(), 1U);
        EXPECT_EQ(open[0].values[0], 1);
        EXPECT_NEAR(static_cast<double>(open[0].end), 1e9, 1e6);
        EXPECT_GE(of_kind(records, Kind::turn, track).front().begin, open[0].end);
    }
}

/// Steps made by hand.
struct TraceSteps : testing::Test {
    TraceSteps() {
        watch.joined(0, 0, "id-a", "a", 1, false);
        watch.joined(1, 0, "id-b", "b", 3, true);
        seen[0] = seen[1] = GpuWatch::Seen{};
        taken(watch);
    }
    GpuWatch watch{0, 1000};
    GpuWatch::SeenSlots seen;
    std::optional<Turn> turn;
};

TEST_F(TraceSteps, AnInstanceThatEndsEndsItsSpans) {
    turn = turn_of(0, 10);
    turn->priority = true;
    seen[0]->gate.state = GateOrder::State::open;
    watch.step(10, seen, turn);
    seen[0]->reading.used = 5;
    seen[1]->reading.wants = true;
    watch.step(20, seen, turn);
    watch.left(0, 30);
    watch.left(1, 30);
    watch.left(1, 31);
    EXPECT_EQ(taken(watch), (std::vector<Record>{{Kind::work, 1, 15, 20, {5, 0, 0}, {}},
                                                 {Kind::turn, 1, 10, 30, {5, 0, kPriority}, {}},
                                                 {Kind::left, 1, 30, 30, {}, {}},
                                                 {Kind::wait, 2, 20, 30, {}, {}},
                                                 {Kind::left, 2, 30, 30, {}, {}}}));
    // The next one in the slot has a track of its own, and nothing of the last one's.
    watch.joined(0, 40, "id-c", "c", 1, false);
    seen[0]->reading.used = 100;
    turn.reset();
    watch.step(41, seen, turn);
    seen[0]->reading.used = 101;
    seen[0]->launches = 4;
    watch.step(50, seen, turn);
    EXPECT_EQ(taken(watch), (std::vector<Record>{{Kind::instance, 3, 40, 40, {1, 0}, "id-c\nc"},
                                                 {Kind::work, 3, 49, 50, {1, 4, 0}, {}}}));
}

TEST_F(TraceSteps, TwoTurnsOfOneInstanceAreTwo) {
    seen[0]->gate.state = GateOrder::State::open;
    turn = turn_of(0, 10);
    turn->contended = true;
    watch.step(10, seen, turn);
    turn->closed_at = 18;
    seen[0]->reading.used = 6;
    watch.step(18, seen, turn);
    turn = turn_of(0, 20);
    seen[0]->reading.used = 8;
    watch.step(20, seen, turn);
    const auto turns = of_kind(taken(watch), Kind::turn);
    EXPECT_EQ(turns, (std::vector<Record>{{Kind::turn, 1, 10, 20, {8, 18, kContended}, {}}}));
}

TEST_F(TraceSteps, WorkThatIsReadLateIsWrittenWhereThereIsRoom) {
    watch.step(10, seen, turn);
    seen[0]->reading.used = 30;
    watch.step(20, seen, turn);
    seen[0]->reading.used = 25;  // a figure that shrinks isn't believed
    watch.step(25, seen, turn);
    seen[0]->reading.used = 31;
    watch.step(30, seen, turn);
    watch.step(40, seen, turn);
    seen[0]->reading.used = 51;
    watch.step(41, seen, turn);
    watch.left(0, 43);
    EXPECT_EQ(of_kind(taken(watch), Kind::work),
              (std::vector<Record>{{Kind::work, 1, 0, 20, {20, 0, 0}, {}},
                                   {Kind::work, 1, 20, 30, {10, 0, 0}, {}},
                                   {Kind::work, 1, 39, 40, {1, 0, 0}, {}},
                                   {Kind::work, 1, 40, 41, {1, 0, 0}, {}},
                                   {Kind::work, 1, 43, 43, {19, 0, 0}, {}}}));
}

TEST_F(TraceSteps, SeveralProcessesMayMeasureMoreThanTheTimeThatPassed) {
    watch.step(10, seen, turn);
    for (int i = 1; i <= 100; ++i) {
        seen[0]->reading.used = 3 * kMilli * i;
        watch.step(i * kMilli, seen, turn);
    }
    const auto before_the_end = taken(watch);
    expect_no_overlap(of_kind(before_the_end, Kind::work));
    Nanos sum = 0;
    for (const auto& work : of_kind(before_the_end, Kind::work)) sum += work.values[0];
    EXPECT_EQ(sum, 280 * kMilli) << "20 ms wait for room";
}

TEST_F(TraceSteps, NotesGetTheTrackOfTheirInstance) {
    watch.note({Kind::refused, 0, 5, 5, {1}, {}}, 1);
    watch.note({Kind::event, 0, 6, 6, {}, "job-begun\n"}, std::nullopt);
    watch.note({Kind::event, 0, 7, 7, {}, "of one that has no track"}, 9);
    const auto records = taken(watch);
    EXPECT_EQ(records[0].track, 2);
    EXPECT_EQ(records[1].track, 0);
    EXPECT_EQ(records[2].track, 0);
}

}  // namespace
}  // namespace cgpu::trace
