#include "daemon/app/compute/doorbell_sleepers.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

constexpr Nanos kSleepersPatience = 20'000'000'000;

class Sleepers : public testing::Test {
  protected:
    void SetUp() override {
        if (!can_wait_for_many()) GTEST_SKIP() << "no futex_waitv: there are no sleepers";
        for (int i = 0; i < 300; ++i) doorbells_.push_back(std::make_shared<test::TestDoorbell>());
    }
    std::vector<HeardDoorbell> all() const {
        std::vector<HeardDoorbell> all;
        for (const auto& doorbell : doorbells_) all.push_back({doorbell, doorbell->its_doorbell.rings});
        return all;
    }
    void ring(std::size_t i) {
        doorbells_[i]->ring();
        wake(doorbells_[i]->its_doorbell.rings);
    }
    /// Sleeps on the word as the slicer does until `count` have been returned, or for 20 s.
    std::multiset<DoorbellSleepers::Doorbell> back(std::size_t count) {
        std::multiset<DoorbellSleepers::Doorbell> all;
        const auto deadline = monotonic_now() + kSleepersPatience;
        while (monotonic_now() < deadline) {
            DoorbellWait wait;
            wait.add(word_);
            for (auto& doorbell : sleepers_.take_back()) all.insert(std::move(doorbell));
            if (all.size() >= count) break;
            wait.until(deadline);
        }
        return all;
    }

    std::atomic<std::uint32_t> word_{0};
    std::vector<std::shared_ptr<test::TestDoorbell>> doorbells_;
    DoorbellSleepers sleepers_{word_};
};

TEST_F(Sleepers, ThereAreAsManyAsItTakes) {
    EXPECT_EQ(sleepers_.threads(), 0U);
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    EXPECT_EQ(sleepers_.threads(), 3U);
}

TEST_F(Sleepers, WhoRingsComesBackOnce) {
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    ring(17);
    EXPECT_EQ(back(1), std::multiset<DoorbellSleepers::Doorbell>{doorbells_[17]});
    const auto before = word_.load();
    for (int i = 0; i < 1000; ++i) ring(17);
    EXPECT_EQ(word_.load(), before) << "nobody sleeps on it any more";
    ring(18);
    EXPECT_EQ(back(1), std::multiset<DoorbellSleepers::Doorbell>{doorbells_[18]});
}

TEST_F(Sleepers, WhatWasRungBeforeTheySleepIsNotLost) {
    auto heard = all();
    for (std::size_t i = 0; i < doorbells_.size(); ++i) doorbells_[i]->ring();
    EXPECT_TRUE(sleepers_.keep(std::move(heard)).empty());
    EXPECT_EQ(back(doorbells_.size()).size(), doorbells_.size());
}

TEST_F(Sleepers, NothingIsLostWhileTheyAreGivenOthers) {
    // Doorbells keep ringing while returned ones are handed back; in the end all of them have been heard.
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    constexpr std::uint32_t kRings = 20;
    std::thread ringer([&] {
        for (std::uint32_t round = 0; round < kRings; ++round)
            for (std::size_t i = 0; i < doorbells_.size(); ++i) ring(i);
    });
    std::map<DoorbellSleepers::Doorbell, std::uint32_t> heard;
    std::size_t done = 0;
    const auto deadline = monotonic_now() + kSleepersPatience;
    while (done < doorbells_.size() && monotonic_now() < deadline) {
        DoorbellWait wait;
        wait.add(word_);
        std::vector<HeardDoorbell> again;
        for (auto& doorbell : sleepers_.take_back()) {
            const auto value = doorbell->page->rings.load();
            done += value == kRings && heard[doorbell] != kRings;
            heard[doorbell] = value;
            again.push_back({std::move(doorbell), value});
        }
        if (!again.empty()) {
            EXPECT_TRUE(sleepers_.keep(std::move(again)).empty());
        } else {
            wait.until(deadline);
        }
    }
    ringer.join();
    EXPECT_EQ(done, doorbells_.size());
}

TEST_F(Sleepers, WhoIsWokenWithoutARingComesBackToo) {
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    const auto deadline = monotonic_now() + kSleepersPatience;
    // Nothing can wake the thread before it sleeps.
    std::vector<DoorbellSleepers::Doorbell> back;
    while (back.empty() && monotonic_now() < deadline) {
        wake(doorbells_[200]->its_doorbell.rings);
        back = sleepers_.take_back();
    }
    EXPECT_EQ(back, std::vector<DoorbellSleepers::Doorbell>{doorbells_[200]});
}

TEST_F(Sleepers, WhoIsGoneIsNotSleptOn) {
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    const auto gone = doorbells_[5];
    sleepers_.retain([&](const auto& doorbell) { return doorbell != gone; });
    ring(5);
    ring(6);
    EXPECT_EQ(back(1), std::multiset<DoorbellSleepers::Doorbell>{doorbells_[6]});
}

TEST_F(Sleepers, TheyEndWhileDoorbellsRing) {
    std::atomic<bool> stop{false};
    std::thread ringer([&] {
        while (!stop)
            for (std::size_t i = 0; i < doorbells_.size(); ++i) ring(i);
    });
    for (int i = 0; i < 20; ++i) {
        DoorbellSleepers some(word_);
        EXPECT_TRUE(some.keep(all()).empty());
        static_cast<void>(some.take_back());
    }
    stop = true;
    ringer.join();
}

}  // namespace
}  // namespace cgpu::app
