#include "daemon/app/compute/bell_sleepers.hpp"

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
        for (int i = 0; i < 300; ++i) bells_.push_back(std::make_shared<test::TestBell>());
    }
    std::vector<HeardBell> all() const {
        std::vector<HeardBell> all;
        for (const auto& bell : bells_) all.push_back({bell, bell->its_bell.rings});
        return all;
    }
    void ring(std::size_t i) {
        bells_[i]->ring();
        wake(bells_[i]->its_bell.rings);
    }
    /// Sleeps on the word as the slicer does until `count` have been returned, or for 20 s.
    std::multiset<BellSleepers::Bell> back(std::size_t count) {
        std::multiset<BellSleepers::Bell> all;
        const auto deadline = monotonic_now() + kSleepersPatience;
        while (monotonic_now() < deadline) {
            BellWait wait;
            wait.add(word_);
            for (auto& bell : sleepers_.take_back()) all.insert(std::move(bell));
            if (all.size() >= count) break;
            wait.until(deadline);
        }
        return all;
    }

    std::atomic<std::uint32_t> word_{0};
    std::vector<std::shared_ptr<test::TestBell>> bells_;
    BellSleepers sleepers_{word_};
};

TEST_F(Sleepers, ThereAreAsManyAsItTakes) {
    EXPECT_EQ(sleepers_.threads(), 0U);
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    EXPECT_EQ(sleepers_.threads(), 3U);
}

TEST_F(Sleepers, WhoRingsComesBackOnce) {
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    ring(17);
    EXPECT_EQ(back(1), std::multiset<BellSleepers::Bell>{bells_[17]});
    const auto before = word_.load();
    for (int i = 0; i < 1000; ++i) ring(17);
    EXPECT_EQ(word_.load(), before) << "nobody sleeps on it any more";
    ring(18);
    EXPECT_EQ(back(1), std::multiset<BellSleepers::Bell>{bells_[18]});
}

TEST_F(Sleepers, WhatWasRungBeforeTheySleepIsNotLost) {
    auto heard = all();
    for (std::size_t i = 0; i < bells_.size(); ++i) bells_[i]->ring();
    EXPECT_TRUE(sleepers_.keep(std::move(heard)).empty());
    EXPECT_EQ(back(bells_.size()).size(), bells_.size());
}

TEST_F(Sleepers, NothingIsLostWhileTheyAreGivenOthers) {
    // Doorbells keep ringing while returned ones are handed back; in the end all of them have been heard.
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    constexpr std::uint32_t kRings = 20;
    std::thread ringer([&] {
        for (std::uint32_t round = 0; round < kRings; ++round)
            for (std::size_t i = 0; i < bells_.size(); ++i) ring(i);
    });
    std::map<BellSleepers::Bell, std::uint32_t> heard;
    std::size_t done = 0;
    const auto deadline = monotonic_now() + kSleepersPatience;
    while (done < bells_.size() && monotonic_now() < deadline) {
        BellWait wait;
        wait.add(word_);
        std::vector<HeardBell> again;
        for (auto& bell : sleepers_.take_back()) {
            const auto value = bell->bell->rings.load();
            done += value == kRings && heard[bell] != kRings;
            heard[bell] = value;
            again.push_back({std::move(bell), value});
        }
        if (!again.empty()) {
            EXPECT_TRUE(sleepers_.keep(std::move(again)).empty());
        } else {
            wait.until(deadline);
        }
    }
    ringer.join();
    EXPECT_EQ(done, bells_.size());
}

TEST_F(Sleepers, WhoIsWokenWithoutARingComesBackToo) {
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    const auto deadline = monotonic_now() + kSleepersPatience;
    // Nothing can wake the thread before it sleeps.
    std::vector<BellSleepers::Bell> back;
    while (back.empty() && monotonic_now() < deadline) {
        wake(bells_[200]->its_bell.rings);
        back = sleepers_.take_back();
    }
    EXPECT_EQ(back, std::vector<BellSleepers::Bell>{bells_[200]});
}

TEST_F(Sleepers, WhoIsGoneIsNotSleptOn) {
    EXPECT_TRUE(sleepers_.keep(all()).empty());
    const auto gone = bells_[5];
    sleepers_.retain([&](const auto& bell) { return bell != gone; });
    ring(5);
    ring(6);
    EXPECT_EQ(back(1), std::multiset<BellSleepers::Bell>{bells_[6]});
}

TEST_F(Sleepers, TheyEndWhileBellsRing) {
    std::atomic<bool> stop{false};
    std::thread ringer([&] {
        while (!stop)
            for (std::size_t i = 0; i < bells_.size(); ++i) ring(i);
    });
    for (int i = 0; i < 20; ++i) {
        BellSleepers some(word_);
        EXPECT_TRUE(some.keep(all()).empty());
        static_cast<void>(some.take_back());
    }
    stop = true;
    ringer.join();
}

}  // namespace
}  // namespace cgpu::app
