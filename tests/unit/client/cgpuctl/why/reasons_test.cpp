#include "client/cgpuctl/why/reasons.hpp"
#include "client/cgpuctl/why/account.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl::why {
namespace {

using Codes = std::vector<std::string>;

struct WhyTest : testing::Test {
    WhyTest() {
        seen.name = "train";
        seen.gpu = two_gpus().gpus.front();
        seen.gpu.policy_name = "weighted";
        seen.connected = true;
        seen.seconds = 3;
        seen.due = 0.25;
        seen.launches = 100;
    }
    [[nodiscard]] Codes codes() const {
        Codes codes;
        for (const Reason& reason : reasons(seen)) codes.emplace_back(reason.code);
        return codes;
    }
    [[nodiscard]] std::string text_of(std::string_view code) const {
        for (const Reason& reason : reasons(seen))
            if (reason.code == code) return reason.text;
        return "there is no such reason";
    }
    Observed seen;
};

TEST_F(WhyTest, AnInstanceThatGetsItsShareIsToldSo) {
    seen.got = 0.24;
    seen.waited = 0.75;
    seen.rivals = {{"web", 0.75, false, 1'000'000}};
    EXPECT_EQ(codes(), (Codes{"got-its-share", "waited"}));
    EXPECT_EQ(text_of("waited"),
              "75% of the time its launches waited for their turn. In all, the GPU was used 75% of the time "
              "by web.");
}

TEST_F(WhyTest, MissingWorkAndWaitingAreToldInTheOrderOfTheirWeight) {
    seen.got = 0.11;
    seen.waited = 0.35;
    seen.rivals = {{"web", 0.6, false, 80'000'000}, {"idle", 0.001, true, 500'000'000}};
    EXPECT_EQ(codes(), (Codes{"without-work", "waited", "long-kernel"}));
    EXPECT_NE(text_of("without-work").find("At least 54% of the time"), std::string::npos);
    EXPECT_NE(text_of("long-kernel").find("of web took 80ms"), std::string::npos);
    EXPECT_EQ(text_of("waited").find("idle"), std::string::npos) << "who used nothing wasn't waited for";
    seen.waited = 0.7;
    EXPECT_EQ(codes(), (Codes{"waited", "long-kernel", "without-work"}));
}

TEST_F(WhyTest, WaitingLaunchesOfManyThreadsAreNoNegativeTime) {
    seen.got = 0.2;
    seen.waited = 1;
    EXPECT_EQ(codes(), Codes{"waited"});
}

TEST_F(WhyTest, PrioritiesAreNamedWithTheRemedy) {
    seen.got = 0.05;
    seen.waited = 0.95;
    seen.rivals = {{"web", 0.9, true, 0}};
    EXPECT_EQ(codes(), (Codes{"waited", "high-priority"}));
    EXPECT_NE(text_of("high-priority").find("Try: cgpuctl set-priority web normal."), std::string::npos);
    seen.got = 0.9;
    seen.quota.high_priority = true;
    EXPECT_EQ(codes(), Codes{"more-than-due"});
}

TEST_F(WhyTest, APausedInstanceIsToldSoAndNothingElse) {
    seen.quota.paused = true;
    seen.due = 0;
    seen.waited = 1;
    EXPECT_EQ(codes(), Codes{"paused"});
    EXPECT_EQ(text_of("paused"),
              "It is paused on GPU 0: its launches wait, and nothing is due to it until it is resumed. Try: "
              "cgpuctl resume train.");
    seen.due.reset();
    EXPECT_EQ(codes(), (Codes{"paused", "not-measured"}));
    EXPECT_NE(text_of("paused").find("computes there all the same"), std::string::npos);
}

TEST_F(WhyTest, WhoseEndIsOverIsToldWhy) {
    seen.quota.paused = true;
    seen.due = 0;
    seen.idle_over = true;
    EXPECT_EQ(
        text_of("paused"),
        "It was without work for too long, and its grace is over: its launches wait, and nothing is due to "
        "it. Try: cgpuctl extend train 1h.");
}

TEST_F(WhyTest, WhoGetsNoDriverIsToldWhyNot) {
    seen.connected = false;
    seen.launches = 0;
    seen.without_driver = {{"no-proc", 4711}};
    EXPECT_EQ(codes(), (Codes{"driver-unreachable", "no-process"}));
    EXPECT_EQ(text_of("driver-unreachable"),
              "Process 4711 of it got no driver: /proc isn't mounted in its root. Try: mount /proc in its "
              "chroot or sandbox (bwrap: --proc /proc).");
    seen.without_driver = {{"a later one's", 4712}, {"no-link", 4713}};
    EXPECT_EQ(codes(), (Codes{"driver-unreachable", "driver-unreachable", "no-process"}));
    EXPECT_NE(text_of("driver-unreachable").find("Try: cgpuctl events --type driver-unreachable"),
              std::string::npos);

    // Others of its processes compute: that comes first.
    seen.connected = true;
    seen.launches = 100;
    seen.got = 0.25;
    EXPECT_EQ(codes().front(), "got-its-share");
    EXPECT_EQ(codes().back(), "driver-unreachable");
}

TEST_F(WhyTest, WhoDoesNothingGetsNothing) {
    seen.launches = 0;
    EXPECT_EQ(codes(), Codes{"no-work"});
    seen.connected = false;
    EXPECT_EQ(codes(), Codes{"no-process"});
}

TEST_F(WhyTest, WithoutAShareNothingIsCompared) {
    seen.due.reset();
    seen.gpu.policy_name = "native";
    seen.refused = 2;
    EXPECT_EQ(codes(), (Codes{"not-measured", "allocations-refused"}));
    EXPECT_NE(text_of("allocations-refused").find("2 allocations of it failed"), std::string::npos);
}

TEST_F(WhyTest, WhatNobodyHoldsIsNamed) {
    seen.got = 0.25;
    seen.rivals = {{"web", 0.75, false, 0}};
    seen.outside = {17, 18};
    seen.unmanaged = {"free"};
    seen.preemptions = 1;
    EXPECT_EQ(codes(), (Codes{"got-its-share", "outside", "unmanaged", "preempted"}));
    EXPECT_NE(text_of("outside").find("without the module: 17 18."), std::string::npos);
    EXPECT_NE(text_of("preempted").find("1 turn of it"), std::string::npos);
}

TEST_F(WhyTest, WhatNobodyReportsIsNamed) {
    seen.got = 0.25;
    seen.rivals = {{"liar", 0.25, false, 0}};
    seen.rivals[0].unreported = 0.481;
    seen.unreported = {{"liar", 0.481}};
    EXPECT_EQ(codes(), (Codes{"got-its-share", "unreported"}));
    EXPECT_NE(text_of("unreported").find("liar uses 48.1% of the GPU's time beyond"), std::string::npos);
}

TEST_F(WhyTest, FixedSharesAreALimitToo) {
    seen.gpu.policy_name = "fixed";
    seen.got = 0.25;
    seen.waited = 0.7;
    EXPECT_EQ(codes(), (Codes{"got-its-share", "waited", "fixed"}));
}

TEST_F(WhyTest, ThereIsAlwaysAnAnswer) {
    seen.got = 0.21;
    seen.waited = 0.78;
    seen.due = 0.25;
    EXPECT_EQ(codes(), Codes{"waited"});
    seen.got = 0.97;
    seen.waited = 0.015;
    seen.due = 1;
    EXPECT_EQ(codes(), Codes{"unexplained"});
}

/// As they are read: in per cent, with the last one behind all.
double sum_of(const std::vector<Part>& parts) {
    double sum = 0;
    for (const Part& part : parts) sum += part.ratio;
    return sum;
}

TEST_F(WhyTest, TheWholeTimeIsAccountedFor) {
    seen.got = 0.24;
    seen.waited = 0.75;
    seen.rivals = {{"web", 0.7, false, 0}, {"batch", 0.02, false, 0}, {"quiet", 0, false, 0}};
    seen.rivals[1].waited = 0.95;
    seen.strangers = 0;
    const auto parts = account_of(seen);
    EXPECT_NEAR(sum_of(parts), 1, 1e-9);
    EXPECT_EQ(account_text(parts),
              "24% it, 70% web, 2% batch, 0% processes of no instance, 3% switching, 1% idle");
}

TEST_F(WhyTest, AStrangerWithHalfOfTheCardIsNoHealth) {
    // The instance's kernels take twice as long beside the stranger's, so by its own figures it has all.
    seen.due = 1;
    seen.got = 1;
    seen.strangers = 0.5;
    seen.strangers_process = 4711;
    EXPECT_EQ(codes(), Codes{"strangers"});
    EXPECT_EQ(
        text_of("strangers"),
        "Processes of no instance used 50% of the GPU's time, process 4711 most of it. Nothing holds their "
        "compute, and its kernels took that much longer. Try: ps -p 4711, and run it by cgpuctl run.");
    EXPECT_NEAR(own_part(seen), 0.5, 1e-9);
    EXPECT_EQ(account_text(account_of(seen)), "50% it, 50% processes of no instance, 0% switching, 0% idle");
    seen.due = 0.5;
    EXPECT_EQ(codes(), (Codes{"strangers", "got-its-share"}));
}

TEST_F(WhyTest, AnIdleGpuIsNoHealth) {
    seen.got = 0.25;
    EXPECT_EQ(codes(), (Codes{"got-its-share", "idle"}));
    EXPECT_NE(text_of("idle").find("The GPU was idle 75% of the time"), std::string::npos);
    seen.rivals = {{"web", 0.74, false, 0}};
    EXPECT_EQ(codes(), Codes{"got-its-share"});
}

TEST_F(WhyTest, WhatIsNotReportedIsItsOwnInTheAccount) {
    seen.got = 0.2;
    seen.unreported_of_own = 0.3;
    seen.rivals = {{"web", 0.2, false, 0}};
    seen.rivals[0].unreported = 0.1;
    const auto parts = account_of(seen);
    EXPECT_NEAR(parts[0].ratio, 0.5, 1e-9);
    EXPECT_NEAR(parts[1].ratio, 0.3, 1e-9);
    EXPECT_NEAR(sum_of(parts), 1, 1e-9);
}

TEST_F(WhyTest, ManyOthersAreNamedByTheirLargest) {
    for (int i = 0; i < 8; ++i) seen.rivals.push_back({"r" + std::to_string(i), 0.1, false, 0});
    seen.got = 0.125;
    const auto parts = account_of(seen);
    EXPECT_NEAR(sum_of(parts), 1, 1e-9);
    EXPECT_EQ(account_text(parts),
              "12.5% it, 10% r0, 10% r1, 10% r2, 10% r3, 10% r4, 30% others, 0% processes of no instance, 0% "
              "switching, 7.5% idle");
}

TEST_F(WhyTest, RoundedFiguresAddUp) {
    seen.got = 1.0 / 3;
    seen.rivals = {{"a", 1.0 / 3, false, 0}, {"b", 1.0 / 3, false, 0}};
    EXPECT_EQ(account_text(account_of(seen)),
              "33.3% it, 33.4% a, 33.3% b, 0% processes of no instance, 0% switching, 0% idle");
}

struct ObserveTest : testing::Test {
    static smi::View view(const client::Snapshot& snapshot) { return {snapshot, 0, std::chrono::seconds{2}}; }
    client::Snapshot snapshot = two_gpus();
};

TEST_F(ObserveTest, CountersAreThoseBetweenTheReadings) {
    const std::string id = snapshot.instances.front().id;
    auto& usage = snapshot.instances.front().gpus.front().usage;
    usage.target_share = 0.5;
    const auto before = view(snapshot);
    usage.target_share = 1;
    usage.gpu_time += 500'000'000;
    usage.waited += 1'000'000'000;
    usage.launches += 7;
    client::Instance other = snapshot.instances.front();
    other.id = "other";
    other.name = "o\x1b[1m";
    other.gpus.front().usage.achieved_share = 0.3;
    other.gpus.front().usage.processes_outside = {9};
    other.gpus.front().usage.compute_unexplained = 0.25;
    snapshot.instances.push_back(other);
    snapshot.gpus.front().strangers = 0.4;
    snapshot.gpus.front().strangers_process = 12;
    const auto seen = observe({before, view(snapshot)}, id, kUuid0);
    ASSERT_TRUE(seen);
    EXPECT_DOUBLE_EQ(seen->got, 0.25);
    EXPECT_DOUBLE_EQ(seen->waited, 0.5);
    EXPECT_DOUBLE_EQ(seen->due.value_or(0), 0.75) << "the mean";
    EXPECT_EQ(seen->launches, 7U);
    EXPECT_DOUBLE_EQ(seen->seconds, 2);
    ASSERT_EQ(seen->rivals.size(), 1U);
    EXPECT_DOUBLE_EQ(seen->rivals[0].used, 0.3) << "it wasn't there before: what cgpud has measured";
    EXPECT_EQ(seen->rivals[0].name.find('\x1b'), std::string::npos);
    EXPECT_EQ(seen->outside, std::vector<std::uint32_t>{9});
    EXPECT_DOUBLE_EQ(seen->rivals[0].unreported, 0.25);
    EXPECT_DOUBLE_EQ(seen->strangers.value_or(0), 0.4) << "the mean of the readings that have it";
    EXPECT_EQ(seen->strangers_process, 12U);
}

TEST_F(ObserveTest, WhoEndedInBetweenIsNotObserved) {
    const std::string id = snapshot.instances.front().id;
    const auto before = view(snapshot);
    snapshot.instances.clear();
    EXPECT_FALSE(observe({before, view(snapshot)}, id, kUuid0));
    EXPECT_FALSE(observe({before, before}, id, "GPU-other"));
}

}  // namespace
}  // namespace cgpu::cgpuctl::why
