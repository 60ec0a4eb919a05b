// Single steps with hand-made readings.
#include <array>

#include "tests/unit/core/schedule/schedule_steps.hpp"

namespace cgpu::schedule {
namespace {

using cgpu::model::Policy;
using State = GateOrder::State;

class Step : public Steps {
  protected:
    // The holder is `slot`, its turn is over and 1 ms is in flight; the other one wants the GPU.
    void end_turn_with_work(std::size_t slot) {
        readings_[slot].wants = readings_[1 - slot].wants = true;
        ASSERT_EQ(gate(slot), State::open);
        launch(slot, kMilli);
        after(5 * kMilli);
        ASSERT_EQ(gate(slot), State::closed);
    }
    // Enough drains come as predicted that both are trusted. Returns the slot whose turn it is.
    std::size_t earn_trust() {
        readings_[0].wants = true;
        at(kSecond);
        std::size_t holder = 0;
        for (int turn = 0; turn < 16; ++turn, holder = 1 - holder) {
            end_turn_with_work(holder);
            EXPECT_EQ(gate(1 - holder), State::closed) << "1 ms is left";
            drain(holder);
            after(kMilli);
        }
        return holder;
    }
};

TEST_F(Step, NobodyWantsNothingIsOpenAndNothingWakes) {
    at(kSecond);
    EXPECT_EQ(gate(0), State::closed);
    EXPECT_EQ(gate(1), State::closed);
    EXPECT_EQ(last_.wake_at, kForever);
}

TEST_F(Step, TimeMayBeginBelowZero) {
    at(-2);  // the sanitizers would tell of an overflow
    EXPECT_EQ(gate(0), State::closed);
    readings_[0].wants = true;
    after(kMilli);
    EXPECT_EQ(gate(0), State::open);
}

TEST_F(Step, TheOnlyOneThatWantsIsOpenWithoutABound) {
    readings_[1].wants = true;
    at(kSecond);
    EXPECT_EQ(gate(1), State::open);
    EXPECT_EQ(last_.gates[1].limit, kForever);
    EXPECT_FALSE(last_.gates[1].contended);
    EXPECT_EQ(last_.wake_at, kForever);
    EXPECT_EQ(gate(0), State::closed);
    EXPECT_TRUE(last_.gates[0].contended);
    EXPECT_FALSE(last_.gates[1].alone) << "the other may wake up at any moment";
    readings_[1].wants = false;
    after(kSecond);
    EXPECT_EQ(gate(1), State::open) << "nobody else wants it: the next burst needn't ask";
    slicer_.leave(0);
    after(kMilli);
    EXPECT_TRUE(last_.gates[1].alone);
    slicer_.join(3, 1, false);
    after(kMilli);
    EXPECT_FALSE(last_.gates[1].alone) << "before the newcomer asks for anything";
}

TEST_F(Step, ATurnIsOneSliceAndItsLimitSaysSo) {
    readings_[0].wants = readings_[1].wants = true;
    readings_[1].used = 7 * kSecond;
    at(kSecond);
    ASSERT_EQ(gate(1), State::open);  // the one after the last holder
    EXPECT_EQ(last_.gates[1].limit, 7 * kSecond + 5 * kMilli);
    EXPECT_TRUE(last_.gates[1].contended);
    EXPECT_LE(last_.wake_at, now_ + 5 * kMilli);
    after(5 * kMilli);
    EXPECT_EQ(gate(1), State::closed);
    EXPECT_EQ(gate(0), State::open);
}

TEST_F(Step, WithoutTrustTheDrainIsWaitedFor) {
    readings_[0].wants = true;
    at(kSecond);
    end_turn_with_work(0);
    EXPECT_EQ(gate(1), State::closed);
    readings_[0].remaining = 50 * kMicro;
    after(950 * kMicro);
    EXPECT_EQ(gate(1), State::closed);
    drain(0);
    after(50 * kMicro);
    EXPECT_EQ(gate(1), State::open);
}

TEST_F(Step, WithTrustTheNextGateOpensBeforeTheDrain) {
    std::size_t holder = earn_trust();
    for (int turn = 0; turn < 4; ++turn, holder = 1 - holder) {
        end_turn_with_work(holder);
        ASSERT_EQ(gate(1 - holder), State::closed) << "1 ms is left";
        EXPECT_EQ(last_.wake_at, now_ + 900 * kMicro);
        readings_[holder].remaining = 100 * kMicro;
        after(900 * kMicro);
        EXPECT_EQ(gate(1 - holder), State::open) << "100 µs before the predicted drain";
        EXPECT_TRUE(last_.gates[1 - holder].overlap);
        drain(holder);
        after(100 * kMicro);
        EXPECT_FALSE(last_.gates[1 - holder].overlap);
    }
}

// The estimate says that slightly more than the lead is left, and doesn't change: the work before it takes
// longer.
TEST_F(Step, ADrainThatStandsStillIsLookedAtEverLessOften) {
    const std::size_t holder = earn_trust();
    end_turn_with_work(holder);
    readings_[holder].remaining = 200 * kMicro;
    after(800 * kMicro);
    ASSERT_EQ(last_.wake_at, now_ + 100 * kMicro);
    readings_[holder].remaining = settings_.tuning.turns.lead + 1;
    int steps = 0;
    for (const Nanos began = now_; gate(1 - holder) == State::closed; ++steps) {
        ASSERT_LT(now_, began + 7 * kMilli);
        at(last_.wake_at);
    }
    EXPECT_LT(steps, 30) << "of 20 µs each they would be 300";
}

TEST_F(Step, ADrainThatDoesNotComeIsNotWaitedForLong) {
    readings_[0].wants = true;
    at(kSecond);
    end_turn_with_work(0);
    readings_[0].remaining = 1;
    after(2 * kMilli + 5 * kMilli - 1);
    EXPECT_EQ(gate(1), State::closed);
    EXPECT_EQ(last_.wake_at, std::max(now_ + 1, now_ + settings_.tuning.steps.shortest_wait));
    after(1);
    EXPECT_EQ(gate(1), State::open);
    // It never drains: the turns go on, and it gets them too, because its kernel may be waiting for one of
    // its own.
    readings_[0].wants = true;
    bool again = false;
    for (int i = 0; i < 1'000 && !again; ++i) {
        after(kMilli);
        again = gate(0) == State::open;
    }
    EXPECT_TRUE(again);
}

TEST_F(Step, AnUnmeasuredKernelGetsMoreTime) {
    readings_[0].wants = true;
    at(kSecond);
    readings_[0].unmeasured = true;
    end_turn_with_work(0);
    after(49 * kMilli);
    EXPECT_EQ(gate(1), State::closed);
    after(kMilli);
    EXPECT_EQ(gate(1), State::open);
}

TEST_F(Step, AStalePageIsPassedOver) {
    readings_[0].wants = true;
    at(kSecond);
    end_turn_with_work(0);
    readings_[0].stale = true;
    after(kMicro);
    EXPECT_EQ(gate(1), State::open);
}

TEST_F(Step, AnIdleHolderIsOutAfterTheGrace) {
    readings_[0].wants = true;
    at(kSecond);
    readings_[0].wants = false;
    readings_[1].wants = true;
    after(kMilli);
    EXPECT_EQ(gate(0), State::open);
    EXPECT_EQ(last_.wake_at, now_ + 300 * kMicro);
    after(300 * kMicro);
    EXPECT_EQ(gate(1), State::open);
}

TEST_F(Step, TimeGoingBackIsStandingStill) {
    readings_[0].wants = readings_[1].wants = true;
    at(kSecond);
    at(0);
    EXPECT_EQ(gate(1), State::open);
    at(kSecond + 5 * kMilli);
    EXPECT_EQ(gate(0), State::open);
}

TEST_F(Step, WhoIsNotThereIsNotRead) {
    readings_[7].wants = true;
    at(kSecond);
    EXPECT_EQ(gate(7), State::closed);
    EXPECT_FALSE(slicer_.holder());
    slicer_.join(7, 1, false);
    after(kMilli);
    EXPECT_EQ(slicer_.holder(), 7U);
    slicer_.leave(7);
    after(kMilli);
    EXPECT_EQ(gate(7), State::closed);
    EXPECT_FALSE(slicer_.holder());
}

TEST_F(Step, NativeFreesAllGates) {
    readings_[0].wants = true;
    at(kSecond);
    slicer_.set_policy(Policy::native);
    after(kMilli);
    for (const GateOrder& g : last_.gates) EXPECT_EQ(g.state, State::free);
    EXPECT_EQ(last_.wake_at, kForever);
    EXPECT_FALSE(slicer_.holder());
}

// Found as a container on one GPU whose start ended the turns on all the others.
TEST_F(Step, WhatIsSetAlreadyEndsNoTurn) {
    readings_[0].wants = readings_[1].wants = true;
    at(kSecond);
    ASSERT_EQ(gate(1), State::open);
    slicer_.set_policy(slicer_.division().policy);
    slicer_.set_max_inst(slicer_.division().max_inst);
    slicer_.set_prio_ratio(slicer_.division().prio_ratio);
    after(kMilli);
    EXPECT_EQ(gate(1), State::open);
    slicer_.set_max_inst(slicer_.division().max_inst + 1);
    after(kMilli);
    EXPECT_EQ(gate(0), State::open);
}

TEST_F(Step, SettingsAreKeptWithinTheirBounds) {
    slicer_.set_max_inst(1'000);
    slicer_.set_prio_ratio(0);
    EXPECT_EQ(slicer_.division().max_inst, 25);
    EXPECT_EQ(slicer_.division().prio_ratio, 20);
}

TEST_F(Step, WhoAlwaysClaimsToBeLateHoldsUpHighPriorityToABound) {
    slicer_.set_prio_ratio(80);
    slicer_.set_high_priority(0, true);
    at(kSecond);
    readings_[0].wants = readings_[1].wants = true;
    Nanos held = 0;
    for (Nanos time = 0; time < 10 * kSecond; time += 100 * kMicro) {
        const bool high = slicer_.holder() == 0U;
        held += high ? 100 * kMicro : 0;
        readings_[0].used += high ? 100 * kMicro : 0;
        readings_[1].waited += 100 * kMicro;
        after(100 * kMicro);
    }
    EXPECT_GE(held, 4'500 * kMilli) << "half: the bucket fills at a quarter of its rate";
}

// If the next one got the GPU before its work has ended, it would run beside it, and so on for ever.
TEST_F(Step, ADrainBesideAnothersWorkIsWaitedForLonger) {
    slicer_.set_policy(Policy::weighted);
    at(kSecond);
    readings_[0].wants = readings_[1].wants = true;
    after(kMilli);
    ASSERT_TRUE(slicer_.holder());
    const std::size_t first = *slicer_.holder();
    const std::size_t second = 1 - first;
    const auto hand_over_after = [&](std::size_t holder) {
        launch(holder, 500 * kMilli);
        readings_[holder].wants = true;
        after(0);
        Nanos waited = 0;
        for (; slicer_.holder() == holder && waited < kSecond; waited += 10 * kMilli) after(10 * kMilli);
        return waited;
    };
    EXPECT_NEAR(static_cast<double>(hand_over_after(first)), 200.0 * kMilli, 20.0 * kMilli);
    slicer_.set_weight(first, 8);  // or the second one would have the next turn, too
    EXPECT_NEAR(static_cast<double>(hand_over_after(second)), 400.0 * kMilli, 20.0 * kMilli);
}

TEST_F(Step, AHolderWithoutWeightStaysClosedAfterTimeWithoutAStep) {
    readings_[0].wants = readings_[1].wants = true;
    at(0);
    const std::size_t holder = slicer_.holder().value_or(0);
    ASSERT_EQ(gate(holder), GateOrder::State::open);
    launch(holder, 10 * kSecond);
    slicer_.set_weight(holder, 0);
    after(kMilli);
    ASSERT_EQ(gate(holder), GateOrder::State::closed);
    after(2 * settings_.tuning.steps.silence);
    EXPECT_EQ(gate(holder), GateOrder::State::closed);
    after(settings_.tuning.drains.longest);
    EXPECT_EQ(gate(holder), GateOrder::State::closed);
    EXPECT_EQ(gate(1 - holder), GateOrder::State::open);
}

TEST_F(Step, NobodyMakesUpForWhatWasUsedWhileNoStepCame) {
    for (const std::size_t holder : {0U, 1U}) {
        slicer_.set_policy(Policy::fair_share);  // a change ends the turn
        slicer_.set_policy(Policy::weighted);
        slicer_.set_weight(1, 2);
        at(now_ + kSecond);
        readings_[0].wants = readings_[1].wants = true;
        while (slicer_.holder() != holder) {
            after(kMilli);
            if (slicer_.holder()) readings_[*slicer_.holder()].used += kMilli;
        }
        // The gates have expired, and the driver has given both the same.
        for (auto* reading : {&readings_[0], &readings_[1]}) reading->used += 1800 * kMilli;
        after(3600 * kMilli);
        std::array<int, 2> turns{};
        for (int i = 0; i < 900; ++i) {
            if (const auto now = slicer_.holder()) {
                ++turns[*now];
                readings_[*now].used += kMilli;
            }
            after(kMilli);
        }
        EXPECT_NEAR(turns[0], 300, 15) << holder;
        EXPECT_NEAR(turns[1], 600, 30) << holder;
    }
}

// Found as equal shares for weights 1 to 2 to 5: kernels of 100 ms that had begun together took 300 ms, so
// each was taken for stuck after 200 ms, and the launches that were let through kept them together.
TEST_F(Step, KernelsThatRunBesideEachOtherAreNotTakenForStuck) {
    slicer_.join(2, 1, false);
    at(kSecond);
    for (const std::size_t i : {0U, 1U, 2U}) {
        launch(i, 300 * kMilli);
        readings_[i].wants = true;
    }
    for (int k = 0; k < 55; ++k) {
        after(10 * kMilli);
        int open = 0;
        for (const std::size_t i : {0U, 1U, 2U}) {
            open += gate(i) == State::closed ? 0 : 1;
            readings_[i].remaining = std::max<Nanos>(0, readings_[i].remaining - 10 * kMilli);
        }
        EXPECT_LE(open, 1) << "after " << 10 * k << " ms";
    }
}

}  // namespace
}  // namespace cgpu::schedule
