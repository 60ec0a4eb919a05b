#include <gtest/gtest.h>

#include "core/schedule/parts/gang_member.hpp"
#include "core/schedule/parts/stuck_work.hpp"

namespace cgpu::schedule {
namespace {

constexpr StuckWork::Patience kPatience;
constexpr Nanos kKernel = 10 * kMilli;

Reading in_flight(Nanos estimate, bool wants = false) {
    Reading r;
    r.wants = wants;
    r.in_flight_estimate = r.remaining = estimate;
    return r;
}

TEST(StuckWork, WhoHasATurnIsNeverStuck) {
    StuckWork work;
    const Reading level = in_flight(kKernel, true);
    EXPECT_EQ(work.surely_at(level, kPatience), kForever);
    EXPECT_EQ(work.at(level, kPatience, true), kForever);
    EXPECT_EQ(work.own_at(level, kPatience), kForever);
}

TEST(StuckWork, WithoutWorkInFlightNothingIsStuck) {
    StuckWork work;
    work.set_outside(true, kSecond);
    EXPECT_EQ(work.surely_at(in_flight(0, true), kPatience), kForever);
}

TEST(StuckWork, IsOverdueAfterTwiceItsEstimateAndSoonerInAGang) {
    StuckWork work;
    work.set_outside(true, kSecond);
    EXPECT_EQ(work.surely_at(in_flight(kKernel), kPatience), kSecond + 2 * kKernel + kPatience.drain.slack);
    EXPECT_EQ(work.at(in_flight(kKernel), kPatience, false), kSecond + 2 * kKernel + kPatience.drain.slack);
    EXPECT_EQ(work.at(in_flight(kKernel), kPatience, true), kSecond + kKernel + kPatience.stuck.grace);
    EXPECT_EQ(work.surely_at(in_flight(kSecond), kPatience), kSecond + kPatience.drain.longest);
}

TEST(StuckWork, AKernelThatWasNeverMeasuredGetsMoreTime) {
    StuckWork work;
    work.set_outside(true, 0);
    Reading level = in_flight(kMicro);
    level.unmeasured = true;
    EXPECT_EQ(work.at(level, kPatience, true), kPatience.drain.unmeasured);
}

TEST(StuckWork, TheClockBeginsWhenTheGateClosesAndAtEachMove) {
    StuckWork work;
    work.set_outside(true, kSecond);
    work.set_outside(true, 2 * kSecond);  // no news
    const Nanos patience = 2 * kKernel + kPatience.drain.slack;
    EXPECT_EQ(work.surely_at(in_flight(kKernel), kPatience), kSecond + patience);
    work.moved(3 * kSecond);
    EXPECT_EQ(work.surely_at(in_flight(kKernel), kPatience), 3 * kSecond + patience);
    work.set_outside(false, 4 * kSecond);
    work.set_outside(true, 5 * kSecond);
    EXPECT_EQ(work.surely_at(in_flight(kKernel), kPatience), 5 * kSecond + patience);
}

TEST(StuckWork, ALaunchIsLetThroughUntilSomethingMoves) {
    StuckWork work;
    work.set_outside(true, 0);
    const Reading level = in_flight(kKernel, true);
    const Nanos at = work.own_at(level, kPatience);
    EXPECT_EQ(at, 2 * kKernel + kPatience.drain.slack);
    EXPECT_FALSE(work.limit());
    work.let_through(at, 77);
    EXPECT_EQ(work.limit(), 77);
    EXPECT_EQ(work.own_at(level, kPatience), kForever) << "one at a time";
    work.moved(at + kPatience.stuck.freed_within);
    EXPECT_FALSE(work.limit());
    EXPECT_EQ(work.own_at(level, kPatience), at + kPatience.stuck.freed_within + kPatience.stuck.grace)
        << "that helped at once, so the next one is let through sooner";
}

TEST(StuckWork, ALaunchThatDidNotHelpAtOnceMakesNobodySooner) {
    StuckWork work;
    work.set_outside(true, 0);
    work.let_through(kSecond, 1);
    const Nanos moved = kSecond + kPatience.stuck.freed_within + 1;
    work.moved(moved);
    EXPECT_EQ(work.own_at(in_flight(kKernel, true), kPatience), moved + 2 * kKernel + kPatience.drain.slack);
}

TEST(GangMember, IsGangedForAWhileAfterItsWorkWaited) {
    GangMember member;
    member.hear({}, kSecond);
    EXPECT_FALSE(member.ganged());
    member.note_wait_across_gpus(3 * kSecond);
    EXPECT_TRUE(member.waits_across_gpus());
    member.hear({}, 3 * kSecond - 1);
    EXPECT_TRUE(member.ganged());
    member.hear({}, 3 * kSecond);
    EXPECT_FALSE(member.ganged());
}

TEST(GangMember, IsGangedWhereAnotherGpuSaysSo) {
    GangMember member;
    member.hear({.waits_across_gpus = true, .wants = true}, 0);
    EXPECT_FALSE(member.waits_across_gpus());
    EXPECT_TRUE(member.ganged());
    EXPECT_TRUE(member.may_wait_for_others());
    member.hear({.waits_across_gpus = true}, 0);
    EXPECT_FALSE(member.may_wait_for_others()) << "no launch of it is held there";
    member.hear({.wants = true}, 0);
    EXPECT_FALSE(member.may_wait_for_others()) << "its work was never seen to wait";
}

TEST(GangMember, ItsTurnFollowsTheGpuThatLeads) {
    GangMember member;
    const auto handicap = [&](Lead lead) {
        member.hear({.lead = lead}, 0);
        return member.handicap(kMilli);
    };
    EXPECT_EQ(handicap(Lead::none), 0);
    EXPECT_FALSE(member.called() || member.dismissed());
    EXPECT_EQ(handicap(Lead::called), -kMilli);
    EXPECT_TRUE(member.called());
    EXPECT_EQ(handicap(Lead::held), kMilli);
    EXPECT_TRUE(member.dismissed());
    EXPECT_EQ(handicap(Lead::leaving), 2 * kMilli);
    EXPECT_TRUE(member.dismissed());
}

}  // namespace
}  // namespace cgpu::schedule
