// Each rule by which a turn ends, by its name.
#include "tests/unit/core/schedule/schedule_steps.hpp"

namespace cgpu::schedule {
namespace {

using cgpu::model::Policy;
using State = GateOrder::State;

class TurnEnds : public Steps {
  protected:
    /// The instance in slot 0 has a turn, with 1 ms in flight; its gate may then close, but its turn isn't
    /// over yet.
    void begin(Policy policy = Policy::preemptive) {
        slicer_.set_policy(policy);
        readings_[0].wants = true;
        at(kSecond);
        ASSERT_EQ(slicer_.holder(), 0U);
        launch(0, kMilli);
        readings_[1].wants = true;
        after(1);
        ASSERT_EQ(slicer_.last_end(), std::nullopt) << "its turn goes on";
    }
    void make_gang(std::size_t slot, Lead lead) {
        gangs_[slot] = {.lead = lead, .busy = true, .waits_across_gpus = true};
    }
};

TEST_F(TurnEnds, OtherSettingsEndItEvenIfNobodyElseWantsTheGpu) {
    readings_[0].wants = true;
    at(kSecond);
    ASSERT_EQ(slicer_.holder(), 0U);
    after(kSecond);
    EXPECT_EQ(slicer_.last_end(), std::nullopt);
    slicer_.set_policy(Policy::weighted);
    slicer_.set_policy(Policy::soft);
    after(1);
    EXPECT_EQ(slicer_.last_end(), TurnEnd::settings_changed);
}

TEST_F(TurnEnds, ItsBudgetIsUsed) {
    begin(Policy::weighted);
    after(4 * kMilli);
    EXPECT_EQ(slicer_.last_end(), std::nullopt);
    after(kMilli);
    EXPECT_EQ(slicer_.last_end(), TurnEnd::budget_used);
}

TEST_F(TurnEnds, AWaitingHighPriorityEndsItAndItsEmptyBucketEndsThat) {
    begin();
    slicer_.set_high_priority(1, true);
    after(kMilli);
    EXPECT_EQ(slicer_.last_end(), TurnEnd::high_priority_waits);
    drain(0);
    readings_[0].wants = true;
    after(1);
    ASSERT_EQ(slicer_.holder(), 1U);
    // Turn after turn, as long as the bucket lasts.
    for (int i = 0; i < 2'000 && slicer_.last_end() != TurnEnd::bucket_empty; ++i) {
        const bool holds = slicer_.holder() == 1U && gate(1) == State::open;
        if (holds) readings_[1].used += 200 * kMicro;
        readings_[1].in_flight_estimate = readings_[1].remaining = holds ? kMilli : 0;
        readings_[0].wants = readings_[1].wants = true;
        after(200 * kMicro);
    }
    EXPECT_EQ(slicer_.last_end(), TurnEnd::bucket_empty);
}

TEST_F(TurnEnds, AGangIsDismissedWhereItLeadsNoLonger) {
    begin();
    make_gang(0, Lead::called);
    after(kMilli);
    ASSERT_EQ(slicer_.last_end(), std::nullopt);
    make_gang(0, Lead::leaving);
    after(1);
    EXPECT_EQ(slicer_.last_end(), TurnEnd::gang_dismissed);
}

TEST_F(TurnEnds, ACalledGangIsWaitedForByNobody) {
    begin();
    make_gang(1, Lead::called);
    after(kMilli);
    EXPECT_EQ(slicer_.last_end(), TurnEnd::other_gang_called);
}

TEST_F(TurnEnds, AHolderWithoutWorkLosesItAfterTheGraceTime) {
    begin();
    drain(0);
    after(kMicro);
    after(298 * kMicro);
    EXPECT_EQ(slicer_.last_end(), std::nullopt);
    after(2 * kMicro);
    EXPECT_EQ(slicer_.last_end(), TurnEnd::holder_idle);
}

TEST_F(TurnEnds, AHolderWithoutWorkKeepsFixedSlices) {
    begin(Policy::fixed);
    drain(0);
    after(kMicro);
    after(kMilli);
    EXPECT_EQ(slicer_.last_end(), std::nullopt);
}

TEST_F(TurnEnds, AProgramThatWaitsAndUsuallyPausesLosesItAtOnce) {
    begin();
    readings_[0].syncing = true;
    readings_[0].usual_gap = kMilli;
    after(1);
    EXPECT_EQ(slicer_.last_end(), TurnEnd::holder_pauses);
}

TEST_F(TurnEnds, OneThatWakesUpAndIsBehindCutsItShort) {
    slicer_.join(0, 4, false);
    begin();
    for (int i = 0; i < 18 && !slicer_.last_end(); ++i) {
        readings_[0].used += kMilli;
        after(kMilli);
    }
    EXPECT_EQ(slicer_.last_end(), TurnEnd::overtaken) << "after less than its budget of 20 ms";
    EXPECT_EQ(slicer_.achieved(0).preemptions, 1U);
}

}  // namespace
}  // namespace cgpu::schedule
