#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/unit/daemon/app/memory/lease_work.hpp"

namespace cgpu::app::test {
namespace {

// Memory that came without the module.

TEST(LeaseEscape, IsCountedAtOnceAndFoundUnexplained) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    bed.gpus.shown[1] = 856 * kMiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.used(), 856 * kMiB);
    EXPECT_EQ(bed.unexplained(), 500 * kMiB);
    EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none) << "reported, not refused";
    EXPECT_TRUE(bed.processes.killed.empty());
    bed.gpus.shown[1] = 356 * kMiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.unexplained(), 0U);
}

TEST(LeaseEscape, RefuseGrantsNothingUntilItIsGone) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::refuse));
    work(bed, 1);
    bed.gpus.shown[1] = 856 * kMiB;
    bed.loop.advance(kFound);
    bed.enter(2);
    for (const auto what : {LeaseAsk::What::lease, LeaseAsk::What::context, LeaseAsk::What::load}) {
        const auto refused = bed.ask(2, 10 * kMiB, what);
        ASSERT_TRUE(*refused) << "at once";
        EXPECT_EQ((*refused)->why, wire::Why::over_limit);
    }
    bed.leases.process_exited(bed.key(1).process);
    EXPECT_EQ((*bed.ask(2, 10 * kMiB))->why, wire::Why::none);
}

TEST(LeaseEscape, KillEndsTheProcessThatHoldsIt) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::kill));
    work(bed, 1);
    bed.gpus.shown[1] = 856 * kMiB;
    bed.loop.advance(kFound);
    ASSERT_FALSE(bed.processes.killed.empty());
    EXPECT_EQ(bed.processes.killed.front(), 1);
}

/// What it holds is charged to it all the same.
TEST(LeaseEscape, NobodyIsKilledBecauseTheLeasesAreLost) {
    for (const bool removed : {false, true}) {
        LeaseMemory table;
        table.was_damaged = !removed;
        table.was_new = removed;
        LeaseBed bed(4 * kGiB, table, with(OnEscape::kill));
        if (removed) {
            bed.leases.wait_for_driver();
            auto running = instance("one", 4 * kGiB);
            running.attached = model::Process{1, 1, "boot"};
            bed.leases.set_instance(running);
            bed.leases.driver_answered();
        }
        bed.enter(1);
        bed.fronts.charges[1] = 600 * kMiB;  // of leases that nobody remembers
        bed.gpus.shown[1] = 856 * kMiB;
        bed.loop.advance(kFound);
        EXPECT_TRUE(bed.processes.killed.empty()) << removed;
        EXPECT_GE(bed.used(), 856 * kMiB) << removed;
    }
}

// A card whose contexts are larger than twice the estimate, until the estimate is configured.
TEST(LeaseEscape, WhatMayBeAContextIsReportedButNotKilledFor) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::kill));
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->why, wire::Why::none);
    bed.fronts.charges[1] = 0;
    bed.gpus.shown[1] = 700 * kMiB;
    bed.leases.made(bed.key(1));
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.unexplained(), (700 - 512) * kMiB);
    EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none) << "and more is granted";
    EXPECT_TRUE(bed.processes.killed.empty());
    bed.gpus.shown[1] = 1200 * kMiB;
    bed.loop.advance(kFound);
    ASSERT_FALSE(bed.processes.killed.empty()) << "no context is that large";
    EXPECT_EQ(bed.processes.killed.front(), 1);
}

TEST(LeaseEscape, WhatMayBeAnotherProcessesIsReportedButNotKilledFor) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::kill));
    work(bed, 1);
    bed.leases.opened_shared(bed.key(1), 500 * kMiB);
    // The process that made it has freed it, and the driver shows it here.
    bed.gpus.shown[1] += 500 * kMiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.unexplained(), 500 * kMiB);
    EXPECT_TRUE(bed.processes.killed.empty());
    EXPECT_NE((*bed.ask(1, 10 * kMiB))->why, wire::Why::none) << "but nothing more is granted";
    // Messages of two threads may arrive in the other order.
    bed.leases.opened_shared(bed.key(1), 300 * kMiB);
    bed.loop.advance(kFound);
    EXPECT_TRUE(bed.processes.killed.empty());
    bed.gpus.shown[1] += 100 * kMiB;
    bed.loop.advance(kFound);
    EXPECT_FALSE(bed.processes.killed.empty()) << "it holds more than it says it has opened";
}

TEST(LeaseEscape, WhoClaimsToShareHidesNoMoreThanTheLimit) {
    LeaseBed bed(kGiB, {}, with(OnEscape::kill));
    work(bed, 1);
    bed.leases.opened_shared(bed.key(1), UINT64_MAX);
    bed.gpus.shown[1] += 3 * kGiB;
    bed.loop.advance(kFound);
    EXPECT_FALSE(bed.processes.killed.empty());
}

// What instances beside this one made, each of its processes opened some of, and their makers then left.
TEST(LeaseEscape, ManyWhoClaimToShareHideNoMoreThanTheLimitTogether) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::kill));
    for (const int pid : {1, 2, 3}) {
        work(bed, pid);
        bed.leases.opened_shared(bed.key(pid), 2 * kGiB);
    }
    bed.gpus.shown[1] += 1536 * kMiB;
    bed.gpus.shown[2] += 1536 * kMiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.unexplained(), 3 * kGiB);
    EXPECT_TRUE(bed.processes.killed.empty()) << "together within the limit";
    bed.gpus.shown[3] += 1800 * kMiB;
    bed.loop.advance(kFound);
    ASSERT_FALSE(bed.processes.killed.empty());
    EXPECT_EQ(std::set<int>(bed.processes.killed.begin(), bed.processes.killed.end()), std::set{3})
        << "the one with the most";
}

TEST(LeaseEscape, AProcessThatNeverConnectedIsTakenIn) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    bed.gpus.shown[7] = 900 * kMiB;  // one of ours
    bed.gpus.shown[8] = 900 * kMiB;  // not managed at all
    bed.fronts.ours = {7};
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.used(), (356 + 900) * kMiB);
    EXPECT_EQ(bed.unexplained(), 900 * kMiB);
    bed.leases.process_exited(bed.key(7).process);
    bed.gpus.shown.erase(7);
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.used(), 356 * kMiB);
}

TEST(LeaseEscape, AProcessIsFoundWhereNobodyEverConnected) {
    LeaseBed bed(kGiB, {}, with(OnEscape::kill));
    bed.fronts.ours = {7};
    bed.loop.advance(60'000 * kMs);
    bed.gpus.shown[7] = 3 * kGiB;
    bed.loop.advance(4'000 * kMs);
    EXPECT_EQ(bed.unexplained(), 3 * kGiB);
    ASSERT_FALSE(bed.processes.killed.empty());
    EXPECT_EQ(bed.processes.killed.front(), 7);
}

TEST(LeaseEscape, NobodyIsLookedForWhereNothingIsIsolated) {
    LeaseBed bed(kGiB);
    auto unlimited = instance("one", kGiB);
    unlimited.mode = model::Mode::none;
    bed.leases.set_instance(unlimited);
    bed.loop.advance(kFound);
    const int looks = bed.gpus.looks;
    bed.loop.advance(60'000 * kMs);
    EXPECT_EQ(bed.gpus.looks, looks);
    bed.leases.set_instance(instance("one", kGiB));
    bed.loop.advance(60'000 * kMs);
    EXPECT_GE(bed.gpus.looks, looks + 30);
    bed.leases.drop_instance(bed.key(1).pool.instance.id);
    bed.loop.advance(kFound);
    const int last = bed.gpus.looks;
    bed.loop.advance(60'000 * kMs);
    EXPECT_EQ(bed.gpus.looks, last);
}

TEST(LeaseEscape, ChargesThatNeverStandStillHideNothing) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    bed.gpus.shown[1] = 1356 * kMiB;
    for (int i = 0; i < 400; ++i) {
        bed.leases.look(gpu(1));
        bed.fronts.charges[1] = (i % 2 == 0 ? 20 : 100) * kMiB;
        bed.loop.advance(20 * kMs);
    }
    EXPECT_GE(bed.unexplained(), 900 * kMiB);
    EXPECT_GE(bed.used(), 1250 * kMiB);
}

TEST(LeaseEscape, AnnouncementsHideNothing) {
    using Say = std::function<void(LeaseBed&)>;
    const Say context_gone = [](LeaseBed& bed) { bed.leases.context_gone(bed.key(1)); };
    const Say moved = [](LeaseBed& bed) { bed.leases.moved(bed.key(1), 0); };
    const Say rid = [](LeaseBed& bed) { bed.leases.moved(bed.key(1), kGiB); };
    const Say load = [](LeaseBed& bed) {
        bed.ask(1, 100 * kMiB, LeaseAsk::What::load);
        bed.leases.made(bed.key(1));
    };
    const Say none = [](LeaseBed&) {};
    for (const auto& says :
         {std::pair(context_gone, moved), std::pair(moved, moved), std::pair(rid, context_gone),
          std::pair(context_gone, none), std::pair(load, moved), std::pair(load, load)}) {
        for (const Nanos every : {20 * kMs, 50 * kMs, 100 * kMs, 900 * kMs}) {
            LeaseBed bed(kGiB, {}, with(OnEscape::kill));
            work(bed, 1);
            bed.gpus.shown[1] = 3'284 * kMiB;
            for (Nanos passed = 0; passed < 4'000 * kMs; passed += 2 * every) {
                says.first(bed);
                bed.loop.advance(every);
                says.second(bed);
                bed.loop.advance(every);
            }
            EXPECT_FALSE(bed.processes.killed.empty()) << every << " ns";
            EXPECT_GE(bed.used(), 2'000 * kMiB) << every << " ns";
        }
    }
}

/// A random report of a process, or a random write to its page.
void say_anything(LeaseBed& bed, unsigned word, std::mt19937& random) {
    const auto any = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
    const auto key = bed.key(1);
    switch (word) {
        case 0:
            return bed.leases.context_gone(key);
        case 1:
            return bed.leases.moved(key, 0);
        case 2:
            return bed.leases.moved(key, any(4) * kGiB);
        case 3:
            return static_cast<void>(bed.ask(1, any(900) * kMiB, LeaseAsk::What::load));
        case 4:
            return static_cast<void>(bed.ask(1, any(900) * kMiB, LeaseAsk::What::context));
        case 5:
            return bed.leases.made(key);
        case 6:
            return bed.leases.not_made(key, any(900) * kMiB);
        case 7:
            bed.fronts.charges[1] = any(1000) * kMiB;
            return;
        case 8:
            return bed.leases.give(key, any(2) == 0 ? UINT64_MAX : any(100) * kMiB);
        default:
            if (!bed.fronts.changing.erase(1)) bed.fronts.changing.insert(1);
            return;
    }
}

TEST(LeaseEscape, NothingThatAProcessSaysHidesWhatItHolds) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        LeaseBed bed(kGiB, {}, with(OnEscape::kill));
        work(bed, 1);
        bed.gpus.shown[1] = 3'284 * kMiB;
        std::vector<unsigned> words(1 + random() % 8);
        for (auto& word : words) word = static_cast<unsigned>(random() % 10);
        const Nanos every = static_cast<Nanos>(1 + random() % 120) * kMs;
        const Nanos end = bed.loop.now() + 4'000 * kMs;
        for (std::size_t i = 0; bed.loop.now() < end; ++i) {
            say_anything(bed, words[i % words.size()], random);
            bed.loop.advance(random() % 2 == 0 ? every : static_cast<Nanos>(random() % 100) * kMs);
        }
        ASSERT_FALSE(bed.processes.killed.empty()) << "seed " << seed;
        ASSERT_GE(bed.unexplained(), 1'900 * kMiB) << "seed " << seed;
    }
}

TEST(LeaseEscape, AnInstanceWhoseLimitWasLoweredIsNotNamed) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::kill));
    for (const std::int32_t pid : {1, 2}) {
        bed.enter(pid);
        ASSERT_EQ((*bed.ask(pid, 0, LeaseAsk::What::context))->why, wire::Why::none);
        ASSERT_EQ((*bed.ask(pid, 500 * kMiB))->why, wire::Why::none);
        bed.fronts.charges[pid] = 500 * kMiB;
        bed.gpus.shown[pid] = 800 * kMiB;
        bed.leases.made(bed.key(pid));
        bed.loop.advance(kSettled);
    }
    bed.set_limit(100 * kMiB);
    bed.loop.advance(10 * kFound);
    EXPECT_EQ(bed.unexplained(), 0U);
    EXPECT_TRUE(bed.processes.killed.empty());
}

TEST(LeaseEscape, AProgramThatGrowsAsItSaysIsNeverFound) {
    LeaseBed bed(8 * kGiB, {}, with(OnEscape::kill));
    work(bed, 1);
    auto shown = 356 * kMiB;
    for (int i = 0; i < 20; ++i) {
        // Loads of up to twice their estimates, launches that take local memory, allocations.
        const auto load = bed.ask(1, 64 * kMiB, LeaseAsk::What::load);
        ASSERT_EQ((*load)->why, wire::Why::none);
        shown += static_cast<std::uint64_t>(i % 3) * 50 * kMiB;
        bed.gpus.shown[1] = shown;
        bed.loop.advance(3 * kFound);
        bed.leases.made(bed.key(1));
        bed.loop.advance(i % 2 == 0 ? kSettled : kFound);
        shown += 100 * kMiB;
        bed.gpus.shown[1] = shown;
        bed.loop.advance(50 * kMs);
        bed.leases.moved(bed.key(1), 0);
        bed.loop.advance(kFound);
        ASSERT_EQ(bed.unexplained(), 0U) << "step " << i;
    }
    EXPECT_TRUE(bed.processes.killed.empty());
}

TEST(LeaseEscape, OneThatIsSharedOnlyIsNotLookedInto) {
    LeaseBed bed(kGiB, {}, with(OnEscape::kill));
    auto unlimited = instance("one", kGiB);
    unlimited.mode = model::Mode::none;
    bed.leases.set_instance(unlimited);
    bed.enter(1);
    bed.gpus.shown[1] = 5 * kGiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.unexplained(), 0U);
    EXPECT_TRUE(bed.processes.killed.empty());
}

TEST(LeaseEscape, ARestartForgetsNothingBeyondTheLimit) {
    LeaseMemory table;
    {
        LeaseBed bed(kGiB);
        work(bed, 1);
        bed.gpus.shown[1] = 3 * kGiB;
        bed.loop.advance(kFound);
        ASSERT_GT(bed.unexplained(), 0U);
        table = bed.table;
    }
    LeaseBed bed(kGiB, table, with(OnEscape::report));
    bed.enter(1);
    bed.fronts.charges[1] = 100 * kMiB;
    bed.gpus.shown[1] = 3 * kGiB;
    bed.loop.advance(kFound);
    EXPECT_GE(bed.unexplained(), 2 * kGiB);
}

}  // namespace
}  // namespace cgpu::app::test
