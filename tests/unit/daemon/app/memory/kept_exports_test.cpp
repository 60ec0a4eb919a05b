#include "daemon/app/memory/kept_exports.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/daemon/app/memory/lease_work.hpp"

namespace cgpu::app::test {
namespace {

/// For ending, for the driver's answer and for patience.
constexpr Nanos kDecided = 2'000 * kMs;

/// A process has 100 MiB and a context, and has exported 60 of them.
void export_some(LeaseBed& bed, std::int32_t pid) {
    work(bed, pid);
    bed.leases.exported(bed.key(pid), 60 * kMiB);
}

void end(LeaseBed& bed, std::int32_t pid) {
    bed.processes.dead.insert(pid);
    bed.gpus.shown.erase(pid);
    bed.leases.process_exited(bed.key(pid).process);
}

TEST(KeptExports, WhatAnEndedProcessExportedCountsAsLongAsADescriptorKeepsIt) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.gpus.unattributed = 60 * kMiB;
    end(bed, 1);
    bed.loop.advance(kDecided);
    EXPECT_EQ(bed.used(), 60 * kMiB);
    bed.gpus.unattributed = 0;
    bed.loop.advance(3'000 * kMs);
    EXPECT_EQ(bed.used(), 0u);
}

TEST(KeptExports, WithoutADescriptorItIsFreeAtOnce) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    end(bed, 1);
    bed.loop.advance(5 * kMs);
    EXPECT_EQ(bed.used(), 0u);
    EXPECT_EQ(bed.fronts.gone.size(), 1u);
}

TEST(KeptExports, NoMoreCountsThanWasExportedAndNothingOfWhoExportedNothing) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.gpus.unattributed = 500 * kMiB;
    end(bed, 1);
    bed.loop.advance(kDecided);
    EXPECT_EQ(bed.used(), 60 * kMiB);

    LeaseBed other(kGiB);
    work(other, 1);
    other.gpus.unattributed = 500 * kMiB;
    end(other, 1);
    other.loop.advance(kDecided);
    EXPECT_EQ(other.used(), 0u);
}

TEST(KeptExports, WhatALivingProcessFreesLeavesItsLeaseAndStaysTheInstances) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.fronts.charges[1] = 40 * kMiB;
    bed.gpus.shown[1] = 296 * kMiB;
    bed.gpus.unattributed = 60 * kMiB;
    bed.leases.give(bed.key(1), 60 * kMiB, true);
    EXPECT_EQ(bed.used(), 356 * kMiB);
    bed.loop.advance(kDecided);
    EXPECT_EQ(bed.used(), 356 * kMiB);
    // When it ends, what it has exported is not counted again.
    end(bed, 1);
    bed.loop.advance(kDecided);
    EXPECT_EQ(bed.used(), 60 * kMiB);
}

TEST(KeptExports, AProgramThatIsReplacedLeavesItsExports) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.fronts.charges[1] = 0;
    bed.gpus.shown.erase(1);
    bed.gpus.unattributed = 60 * kMiB;
    bed.leases.give(bed.key(1), std::numeric_limits<std::uint64_t>::max());
    bed.loop.advance(kDecided);
    EXPECT_GE(bed.used(), 60 * kMiB);
    end(bed, 1);
    bed.loop.advance(kDecided);
    EXPECT_EQ(bed.used(), 60 * kMiB);
}

/// The process of the instance's that is last does not end it: else each job could leave so much.
TEST(KeptExports, AnInstanceLastsUntilItIsFree) {
    LeaseBed bed(kGiB);
    work(bed, 1);
    bed.leases.exported(bed.key(1), 100 * kMiB);
    bed.gpus.unattributed = 100 * kMiB;
    end(bed, 1);
    bed.loop.advance(kDecided);
    EXPECT_TRUE(bed.fronts.gone.empty());
    EXPECT_TRUE(bed.leases.pools().holds_any(bed.key(1).pool.instance.id));
    bed.gpus.unattributed = 0;
    bed.loop.advance(3'000 * kMs);
    EXPECT_EQ(bed.fronts.gone.size(), 1u);
}

/// The driver's own part moves by some tens of MiB, and must not keep instances listed.
TEST(KeptExports, AnInstanceDoesNotLastForALittle) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.gpus.unattributed = 30 * kMiB;
    end(bed, 1);
    bed.loop.advance(kDecided);
    EXPECT_EQ(bed.used(), 30 * kMiB);
    EXPECT_EQ(bed.fronts.gone.size(), 1u);
}

/// But many that leave a little are no way around that.
TEST(KeptExports, WhatEndedInstancesLeaveAddsUp) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.gpus.unattributed = 50 * kMiB;
    end(bed, 1);
    bed.loop.advance(kDecided);
    bed.leases.drop_instance(bed.key(1).pool.instance.id);
    bed.set_limit(kGiB);
    bed.loop.advance(10 * kSecond);  // the base doesn't take it in
    export_some(bed, 2);
    bed.gpus.unattributed = 100 * kMiB;
    end(bed, 2);
    bed.loop.advance(kDecided);
    EXPECT_EQ(bed.used(), 50 * kMiB);
    EXPECT_TRUE(bed.leases.pools().holds_any(bed.key(1).pool.instance.id));
}

TEST(KeptExports, ALookDuringWhichMemoryChangedDecidesNothing) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.gpus.changed_meanwhile = 2 * kMiB;
    end(bed, 1);
    bed.loop.run_posted();
    EXPECT_EQ(bed.used(), 60 * kMiB);
    bed.loop.advance(20 * kMs);
    EXPECT_EQ(bed.used(), 0u);
}

/// The driver takes some time to free what an ended process had.
TEST(KeptExports, MemoryThatIsBeingFreedIsNotKept) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.gpus.unattributed = 356 * kMiB;
    end(bed, 1);
    bed.loop.advance(500 * kMs);
    EXPECT_EQ(bed.used(), 60 * kMiB);
    bed.gpus.unattributed = 0;
    bed.loop.advance(60 * kMs);
    EXPECT_EQ(bed.used(), 0u);
}

TEST(KeptExports, AnAskAtTheLimitIsGrantedWhenTheDescriptorIsClosedMeanwhile) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    bed.gpus.unattributed = 60 * kMiB;
    end(bed, 1);
    bed.loop.advance(kDecided);
    bed.enter(2);
    bed.loop.advance(kSettled);
    bed.gpus.unattributed = 0;  // closed, and cgpud doesn't know it
    const auto answer = bed.ask(2, kGiB);
    bed.loop.advance(20 * kMs);
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->granted, kGiB);
}

/// It opens what it frees again, and allocates as much before the driver's answer is there: the figure is of
/// the former.
TEST(KeptExports, WhatIsAllocatedAfterTheLookDoesNotHideWhatWasOpenedAgain) {
    LeaseBed bed(kGiB);
    export_some(bed, 1);
    ASSERT_EQ((*bed.ask(1, 60 * kMiB))->why, wire::Why::none);
    bed.loop.advance(kSettled);
    bed.fronts.charges[1] = 40 * kMiB;  // freed; the driver still shows it, for it is open
    bed.leases.give(bed.key(1), 60 * kMiB, true);
    bed.fronts.charges[1] = 100 * kMiB;
    bed.loop.run_posted();
    EXPECT_GE(bed.used(), 356 * kMiB + 60 * kMiB);
}

/// It frees more before each look at the driver has ended.
TEST(KeptExports, WhoFreesAllTheTimeIsJudgedAllTheSame) {
    KeptExports kept;
    const PoolKey pool{key_of(instance("one", 0)), gpu(1)};
    const DriverFigures nothing{{}, 300 * kMiB, 300 * kMiB};
    kept.seen(nothing, 0);
    for (int i = 1; i < 10; ++i) {
        kept.freed(pool, 20 * kMiB, false, i);
        kept.look_begins();
        kept.freed(pool, 20 * kMiB, false, i);
        kept.seen(nothing, i);
        EXPECT_EQ(kept.of(pool).bytes, 20 * kMiB) << "what came during the look";
    }
}

/// Nothing is charged to it, so it grows without a word.
TEST(KeptExports, AnInstanceWithoutALimitDoesNotLookLikeOne) {
    LeaseBed bed(kGiB);
    auto free = instance("two", 0);
    free.mode = model::Mode::none;
    bed.leases.set_instance(free);
    LeaseBed::must(bed.leases.process_entered(key_of(free), {7, 1, "boot"}));
    export_some(bed, 1);
    bed.gpus.shown[7] = 5 * kGiB;
    end(bed, 1);
    bed.loop.advance(kDecided);
    EXPECT_EQ(bed.used(), 0u);
}

/// One event when something is kept and one when it is free, whatever else the instance frees meanwhile.
TEST(KeptExports, IsToldOnce) {
    LeaseBed bed(kGiB);
    struct Told final : EventOutlet {
        std::vector<EventType> types;
        void happened(const Event& event, const Stamp&) override { types.push_back(event.type); }
    } told;
    bed.events.add(told);
    work(bed, 1);
    bed.leases.exported(bed.key(1), 100 * kMiB);
    work(bed, 2);
    bed.leases.exported(bed.key(2), 100 * kMiB);
    bed.gpus.unattributed = 100 * kMiB;
    end(bed, 1);
    bed.loop.advance(kDecided);
    end(bed, 2);
    bed.loop.advance(kDecided);
    EXPECT_EQ(told.types, std::vector{EventType::escape_found});
    bed.gpus.unattributed = 0;
    bed.loop.advance(3'000 * kMs);
    EXPECT_EQ(told.types, (std::vector{EventType::escape_found, EventType::escape_ended}));
}

TEST(KeptExports, ALaterDaemonKnows) {
    LeaseBed first(kGiB);
    export_some(first, 1);
    first.gpus.unattributed = 60 * kMiB;
    end(first, 1);
    first.loop.advance(kDecided);

    LeaseBed second(kGiB, first.table);
    second.gpus.unattributed = 60 * kMiB;
    EXPECT_EQ(second.used(), 60 * kMiB);
    second.loop.advance(10 * kSecond);
    EXPECT_EQ(second.used(), 60 * kMiB);
    second.gpus.unattributed = 0;
    second.loop.advance(3'000 * kMs);
    EXPECT_EQ(second.used(), 0u);
    EXPECT_TRUE(second.table.records.empty());
}

TEST(KeptExports, WhereTheDriverTellsNothingItIsFree) {
    KeptExports kept;
    const PoolKey pool{key_of(instance("one", 0)), gpu(1)};
    kept.freed(pool, kGiB, true, 0);
    kept.seen({}, 1);
    EXPECT_EQ(kept.of(pool), KeptExports::Kept{});
}

/// Processes of three instances export, free, end and are replaced in any order, descriptors are closed at
/// any time, and the driver's own part changes by little.
RC_GTEST_PROP(KeptExports, NobodyGetsRidOfWhatIsKeptNorIsChargedForMore, ()) {
    KeptExports kept;
    constexpr std::size_t kPools = 3;
    std::vector<PoolKey> pools;
    for (const char* id : {"one", "two", "three"}) pools.push_back({key_of(instance(id, 0)), gpu(1)});
    std::array<std::uint64_t, kPools> descriptors{};  // what they really keep
    std::array<std::uint64_t, kPools> exported{};     // in all, so far
    Nanos now = kSecond;
    const std::uint64_t own = 300 * kMiB;
    const auto truth = [&] { return descriptors[0] + descriptors[1] + descriptors[2]; };
    const auto look = [&] {
        kept.look_begins();
        const auto used = own + truth() + 5 * kGiB;
        kept.seen({{{7, 5 * kGiB}}, used, used}, now);
    };
    look();
    const auto steps = *rc::gen::inRange(1, 60);
    for (int step = 0; step < steps; ++step) {
        const auto which = *rc::gen::inRange<std::size_t>(0, kPools);
        const auto bytes = *rc::gen::inRange<std::uint64_t>(1, 200) * 2 * kMiB;
        switch (*rc::gen::inRange(0, 4)) {
            case 0:  // freed, and kept by a descriptor, or partly
                exported[which] += bytes;
                descriptors[which] += *rc::gen::element(bytes, bytes, std::uint64_t{0});
                kept.freed(pools[which], bytes, false, now);
                break;
            case 1:
                if (*rc::gen::arbitrary<bool>()) descriptors[which] = 0;
                break;
            case 2:
                now += *rc::gen::inRange<Nanos>(0, 3 * kSecond);
                look();
                break;
            default:
                look();
                break;
        }
        // Whatever was decided: together they are charged for what is kept.
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < kPools; ++i) {
            RC_ASSERT(kept.of(pools[i]).bytes <= exported[i]);
            sum += kept.of(pools[i]).bytes;
        }
        RC_ASSERT(sum >= truth());
    }
    for (int i = 0; i < 3; ++i) {
        now += 2 * kSecond;
        look();
    }
    std::uint64_t sum = 0;
    for (const auto& pool : pools) sum += kept.of(pool).bytes;
    RC_ASSERT(!kept.any_unsure());
    RC_ASSERT(sum >= truth());
    descriptors = {};
    look();
    for (const auto& pool : pools) RC_ASSERT(kept.of(pool).bytes == 0u);
}

}  // namespace
}  // namespace cgpu::app::test
