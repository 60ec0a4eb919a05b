#include <gtest/gtest.h>

#include "tests/unit/daemon/app/memory/lease_fakes.hpp"

namespace cgpu::app::test {
namespace {

// Contexts, and other memory whose size only the driver knows.

TEST(LeaseFigures, ContextsAreReservedAndCorrectedByTheDriver) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    const auto context = bed.ask(1, 0, LeaseAsk::What::context);
    ASSERT_EQ((*context)->granted, 256 * kMiB) << "the first estimate";
    ASSERT_EQ((*bed.ask(1, 100 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 100 * kMiB;
    bed.gpus.shown[1] = 100 * kMiB;
    bed.leases.look(gpu(1));
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 356 * kMiB) << "while the context is being made its reservation stays";
    bed.gpus.shown[1] = (100 + 311) * kMiB;
    bed.leases.made(bed.key(1));
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), (100 + 311) * kMiB);
    EXPECT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 312 * kMiB) << "learnt, in whole granules";
    bed.leases.not_made(bed.key(1), 312 * kMiB);
    bed.leases.context_gone(bed.key(1));
    bed.gpus.shown[1] = 100 * kMiB;
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 100 * kMiB);
}

TEST(LeaseFigures, WhatContextsTakeIsLearntWhereThreeInstancesAgree) {
    LeaseBed bed(kGiB);
    std::int32_t pid = 0;
    // One process for each, whose context takes this many MiB.
    const auto live = [&](const char* id, std::uint64_t mib) {
        const auto its = instance(id, kGiB);
        bed.leases.set_instance(its);
        const LeaseKey key{{key_of(its), gpu(1)}, {++pid, 1, "boot"}};
        bed.fronts.charges[pid] = 0;
        LeaseBed::must(bed.leases.process_entered(key.pool.instance, key.process));
        bed.leases.ask({key, LeaseAsk::What::context, 0}, [](const LeaseAnswer&) { return true; });
        bed.gpus.shown[pid] = mib * kMiB;
        bed.leases.made(key);
        bed.loop.advance(kSettled);
    };
    live("a", 110);
    live("b", 112);
    EXPECT_EQ(bed.leases.context_estimate(gpu(1)), 256 * kMiB);
    live("a", 112);
    EXPECT_EQ(bed.leases.context_estimate(gpu(1)), 256 * kMiB) << "one of them again is no third one";
    live("c", 500);
    EXPECT_EQ(bed.leases.context_estimate(gpu(1)), 256 * kMiB) << "they don't agree";
    live("d", 118);
    EXPECT_EQ(bed.leases.context_estimate(gpu(1)), 118 * kMiB);
    LeaseBed later(kGiB, bed.table);
    EXPECT_EQ(later.leases.context_estimate(gpu(1)), 118 * kMiB) << "a restart forgets nothing";
    EXPECT_EQ(later.leases.context_estimate(gpu(2)), 256 * kMiB);
}

TEST(LeaseFigures, OneInstanceMovesNoEstimateHoweverLargeItIs) {
    LeaseSettings settings;
    settings.first_context_estimate = 2 * kGiB;
    LeaseBed bed(8 * kGiB, {}, settings);
    bed.enter(1);
    bed.ask(1, 0, LeaseAsk::What::context);
    bed.gpus.shown[1] = 300 * kMiB;
    bed.leases.made(bed.key(1));
    bed.loop.advance(kSettled);
    ASSERT_EQ(bed.used(), 300 * kMiB);
    EXPECT_EQ(bed.leases.context_estimate(gpu(1)), 2 * kGiB);
}

TEST(LeaseFigures, WhatAContextDoesntTakeOfItsReservationIsWaitedFor) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 256 * kMiB);
    ASSERT_EQ((*bed.ask(1, 2 * kMiB))->why, wire::Why::none);
    bed.gpus.shown[1] = 120 * kMiB;
    bed.leases.made(bed.key(1));
    bed.fronts.charges[1] = 2 * kMiB;  // while the driver looks
    bed.gpus.shown[1] = 122 * kMiB;
    bed.loop.run_posted();
    const auto fits = bed.ask(1, 800 * kMiB);
    EXPECT_FALSE(*fits) << "refused before the driver could tell";
    bed.loop.advance(kSettled);
    ASSERT_TRUE(*fits);
    EXPECT_EQ((*fits)->why, wire::Why::none);
    const auto never_fits = bed.ask(1, 800 * kMiB);
    EXPECT_TRUE(*never_fits) << "nothing is awaited any more";
    EXPECT_EQ((*never_fits)->why, wire::Why::over_limit);
}

// Found as a flaky system test: while a program allocates without pause, queries become rare; an ask at the
// limit then waited in vain for three of them.
TEST(LeaseFigures, AFigureThatAnAskWaitsForIsReadAtOnce) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    const auto context = *bed.ask(1, 302 * kMiB, LeaseAsk::What::context);
    ASSERT_EQ(context->why, wire::Why::none);
    bed.leases.made(bed.key(1));
    bed.gpus.shown[1] = 100 * kMiB;
    bed.fronts.changing = {1};
    bed.loop.advance(300 * kMs);
    bed.fronts.changing = {};
    const auto answer = bed.ask(1, kGiB - 200 * kMiB);
    ASSERT_FALSE(*answer);
    bed.loop.advance(30 * kMs);
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->why, wire::Why::none);
}

TEST(LeaseFigures, AFigureThatNeverComesIsNotWaitedForLong) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 256 * kMiB);
    bed.leases.made(bed.key(1));
    // It waits for the context's size, then for a smaller one to leave enough.
    const auto first = bed.ask(1, 800 * kMiB);
    bed.loop.advance(350 * kMs);
    ASSERT_TRUE(*first);
    EXPECT_EQ((*first)->why, wire::Why::over_limit);
    bed.loop.advance(500 * kMs);
    EXPECT_TRUE(*bed.ask(1, 800 * kMiB)) << "refused at once now";
}

TEST(LeaseFigures, AContextLargerThanReservedIsShownAndStopsGrants) {
    LeaseBed bed(300 * kMiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 256 * kMiB);
    ASSERT_EQ((*bed.ask(1, 40 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 40 * kMiB;
    bed.gpus.shown[1] = 340 * kMiB;
    bed.leases.made(bed.key(1));
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 340 * kMiB);
    EXPECT_EQ(bed.excess(), 40 * kMiB);
    EXPECT_EQ((*bed.ask(1, 2 * kMiB))->why, wire::Why::over_limit);
}

TEST(LeaseFigures, FiguresTakenWhileChargesMoveAreNotTaken) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 100 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 100 * kMiB;
    bed.loop.advance(kSettled);
    bed.gpus.shown[1] = 100 * kMiB;
    bed.leases.look(gpu(1));
    bed.fronts.charges[1] = 0;  // freed after the driver had looked
    bed.loop.run_posted();
    EXPECT_EQ(bed.used(), 0U);
}

TEST(LeaseFigures, OneFigureThatDoesNotFitIsNotBelieved) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    bed.gpus.shown[1] = 300 * kMiB;
    bed.loop.advance(kSettled);
    ASSERT_EQ(bed.used(), 300 * kMiB);
    // Allocated and freed again within the query; then freed and allocated again.
    for (const auto odd : {900 * kMiB, 10 * kMiB}) {
        bed.gpus.shown[1] = odd;
        bed.leases.look(gpu(1));
        bed.loop.run_posted();
        EXPECT_EQ(bed.used(), 300 * kMiB);
        bed.gpus.shown[1] = 300 * kMiB;
        bed.loop.advance(kSettled);
        EXPECT_EQ(bed.used(), 300 * kMiB);
    }
}

TEST(LeaseFigures, AProcessInTheMiddleOfAChangeTellsNothing) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    // The memory that it is about to allocate is leased already.
    ASSERT_EQ((*bed.ask(1, 200 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 100 * kMiB;
    bed.gpus.shown[1] = 400 * kMiB;
    bed.leases.look(gpu(1));
    bed.loop.advance(kSettled);
    ASSERT_EQ(bed.used(), 400 * kMiB) << "its contexts take 300";
    // Stopped between the driver's free and its accounting, then between an allocation and its accounting.
    bed.fronts.changing = {1};
    for (const auto shown : {300 * kMiB, 500 * kMiB}) {
        bed.gpus.shown[1] = shown;
        bed.leases.look(gpu(1));
        bed.loop.advance(5000 * kMs);
        EXPECT_EQ(bed.used(), 400 * kMiB);
    }
    bed.fronts.changing = {};
    bed.fronts.charges[1] = 0;
    bed.gpus.shown[1] = 310 * kMiB;
    bed.loop.advance(5000 * kMs);
    EXPECT_EQ(bed.used(), 310 * kMiB);
}

TEST(LeaseFigures, WhatAPoolHasGivenBackIsNotTakenOffAContext) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 100 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 100 * kMiB;
    bed.gpus.shown[1] = 400 * kMiB;
    bed.leases.look(gpu(1));
    bed.loop.advance(kSettled);
    bed.fronts.pooled[1] = 60 * kMiB;
    // The pool has released 60 MiB; its process hasn't queried it yet.
    bed.gpus.shown[1] = 340 * kMiB;
    bed.leases.look(gpu(1));
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 400 * kMiB);
    // It does, and takes them again: the context is as large as before.
    bed.fronts.charges[1] = 40 * kMiB;
    bed.fronts.pooled[1] = 0;
    EXPECT_EQ(bed.used(), 340 * kMiB);
    // The excess over the pools is the context's.
    bed.gpus.shown[1] = 240 * kMiB;
    bed.leases.look(gpu(1));
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 240 * kMiB);
}

TEST(LeaseFigures, ALookFromBeforeADeathSaysNothingOfIt) {
    LeaseBed bed(kGiB);
    bed.leases.look(gpu(1));
    // A process connects, takes memory and is killed before the driver has answered; a child keeps its
    // memory.
    bed.loop.post([&] { bed.gpus.shown[1] = 100 * kMiB; });
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 100 * kMiB))->why, wire::Why::none);
    const auto leased = bed.leased();
    bed.leases.process_exited(bed.key(1).process);
    bed.loop.advance(1000 * kMs);
    EXPECT_EQ(bed.leased(), leased);
    bed.gpus.shown.clear();
    bed.loop.advance(1000 * kMs);
    EXPECT_EQ(bed.leased(), 0U);
}

TEST(LeaseFigures, WhatADriverNeverShowsKeepsItsReservation) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 256 * kMiB);
    bed.leases.made(bed.key(1));
    bed.loop.advance(5000 * kMs);
    EXPECT_EQ(bed.used(), 256 * kMiB);
}

TEST(LeaseFigures, MemoryThatNobodyAskedForCountsByTheDriversFigure) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    bed.gpus.shown[1] = 700 * kMiB;
    bed.loop.advance(3000 * kMs);
    EXPECT_EQ(bed.used(), 700 * kMiB);
    EXPECT_EQ((*bed.ask(1, 400 * kMiB))->why, wire::Why::over_limit);
}

// Records of an earlier daemon.

TEST(LeaseRestart, ARestartKeepsLeasesAndWaitsForSiblingsToComeBack) {
    LeaseMemory table;
    {
        LeaseBed bed(100 * kMiB);
        bed.enter(1);
        bed.enter(2);
        ASSERT_EQ((*bed.ask(1, 70 * kMiB))->why, wire::Why::none);
        table = bed.table;
    }
    LeaseBed bed(100 * kMiB, table);
    EXPECT_EQ(bed.leased(), 70 * kMiB);
    EXPECT_EQ(bed.used(), 70 * kMiB) << "nobody has reported yet";
    bed.enter(2);
    bed.fronts.spare = [](const LeaseKey&, std::uint64_t bytes) { return bytes; };
    const auto answer = bed.ask(2, 60 * kMiB);
    bed.loop.advance(300 * kMs);
    EXPECT_FALSE(*answer) << "process 1 may still come and give";
    bed.enter(1);
    bed.fronts.charges[1] = 10 * kMiB;
    bed.loop.advance(800 * kMs);
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->granted, 60 * kMiB);
    EXPECT_LE(bed.leased(), 100 * kMiB);
}

TEST(LeaseRestart, WhoHadNothingToSpareIsAskedAgainBeforeARefusal) {
    LeaseMemory table;
    {
        LeaseBed bed(100 * kMiB);
        bed.enter(1);
        ASSERT_EQ((*bed.ask(1, 70 * kMiB))->why, wire::Why::none);
        table = bed.table;
    }
    LeaseBed bed(100 * kMiB, table);
    bed.enter(1);
    bed.fronts.charges[1] = 20 * kMiB;
    std::uint64_t to_spare = 0;  // the rest is set aside for a call of the driver
    bed.fronts.spare = [&](const LeaseKey&, std::uint64_t bytes) { return std::min(bytes, to_spare); };
    bed.enter(2);
    const auto answer = bed.ask(2, 60 * kMiB);
    bed.loop.advance(500 * kMs);
    EXPECT_FALSE(*answer);
    to_spare = 50 * kMiB;  // it failed
    bed.loop.advance(800 * kMs);
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->why, wire::Why::none);
}

TEST(LeaseRestart, ARestartEndsTheLeasesOfProcessesThatAreGone) {
    LeaseMemory table;
    {
        LeaseBed bed(100 * kMiB);
        bed.enter(1);
        ASSERT_EQ((*bed.ask(1, 70 * kMiB))->why, wire::Why::none);
        table = bed.table;
    }
    LeaseLoop loop;
    LeaseProcesses processes;
    processes.dead = {1};
    LeaseGpus gpus(loop);
    Events events;
    Leases leases({loop, processes, gpus, table, events});
    leases.set_instance(instance("one", 100 * kMiB));
    EXPECT_TRUE(leases.pools().living({instance("one", 0).id, 1}).empty());
    loop.run_posted();
    EXPECT_TRUE(table.records.empty());
}

TEST(LeaseRestart, AContextThatWasJustBeingMadeIsFoundOutSoon) {
    LeaseMemory table;
    {
        LeaseBed bed(kGiB);
        bed.enter(1);
        ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 256 * kMiB);
        ASSERT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none);
        table = bed.table;
    }
    LeaseBed bed(kGiB, table);
    EXPECT_EQ(bed.leased(), (256 + 32) * kMiB);
    bed.gpus.shown[1] = 130 * kMiB;
    bed.enter(1);
    bed.loop.run_posted();
    bed.fronts.charges[1] = 10 * kMiB;  // while the driver was looked at
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 130 * kMiB) << "and nothing else had to happen";
}

TEST(LeaseRestart, AnotherGenerationHasNothingOfTheOld) {
    LeaseMemory table;
    {
        LeaseBed bed(100 * kMiB);
        bed.enter(1);
        ASSERT_EQ((*bed.ask(1, 70 * kMiB))->why, wire::Why::none);
        table = bed.table;
    }
    LeaseLoop loop;
    LeaseProcesses processes;
    LeaseGpus gpus(loop);
    Events events;
    Leases leases({loop, processes, gpus, table, events});
    leases.set_instance(instance("one", 100 * kMiB, 2));
    EXPECT_FALSE(leases.pools().holds_any(instance("one", 0).id));
    EXPECT_EQ(table.records.size(), 1U);
    leases.drop_rest();
    EXPECT_TRUE(table.records.empty());
}

TEST(LeaseRestart, AfterDamageNothingIsGrantedBeforeTheDriverWasSeen) {
    LeaseMemory table;
    table.was_damaged = true;
    LeaseBed bed(100 * kMiB, table);
    bed.enter(1);
    bed.fronts.charges[1] = 80 * kMiB;  // of a lease that nobody remembers
    bed.gpus.shown[1] = 80 * kMiB;
    const auto much = bed.ask(1, 40 * kMiB);
    const auto little = bed.ask(1, 10 * kMiB);
    bed.loop.advance(500 * kMs);
    EXPECT_FALSE(*much);
    bed.loop.advance(1000 * kMs);
    EXPECT_EQ((*much)->why, wire::Why::over_limit);
    EXPECT_EQ((*little)->why, wire::Why::none);
    bed.gpus.shown[1] = 90 * kMiB;
    bed.fronts.charges[1] = 90 * kMiB;
    bed.loop.advance(5000 * kMs);
    EXPECT_EQ(bed.used(), 90 * kMiB) << "lease and what lies beside it are what the driver shows";
}

}  // namespace
}  // namespace cgpu::app::test
