#include "daemon/app/memory/pool/unexplained.hpp"

#include <gtest/gtest.h>

namespace cgpu::app {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr Nanos kSecond = 1'000'000'000;

/// A process in an instance with enough room, queried once a second.
struct Watched {
    Unexplained memory;
    Unexplained::Settings settings;
    std::uint64_t room = 10'000 * kMiB;
    std::uint64_t always = 0;
    Nanos now = kSecond;

    std::uint64_t look(std::uint64_t bytes, bool settled = true) {
        now += kSecond;
        memory.seen({bytes, settled, always, room, now}, settings);
        return memory.bytes();
    }
};

TEST(Unexplained, WhatWasAnnouncedIsExplained) {
    Watched process;
    process.memory.may_grow(256 * kMiB);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(process.look(256 * kMiB), 0U);
    process.memory.may_grow(100 * kMiB);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(process.look(356 * kMiB), 0U);
}

TEST(Unexplained, GrowthWithoutAWordIsNot) {
    Watched process;
    process.memory.may_grow(256 * kMiB);
    process.look(256 * kMiB);
    EXPECT_EQ(process.look(400 * kMiB), 0U) << "a word may still come";
    EXPECT_TRUE(process.memory.suspected());
    EXPECT_EQ(process.look(400 * kMiB), 144 * kMiB);
    EXPECT_FALSE(process.memory.suspected());
}

TEST(Unexplained, AWordThatComesALittleLateExplainsIt) {
    Watched process;
    process.look(0);
    process.look(400 * kMiB);
    process.memory.may_grow(Unexplained::kAnything);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(process.look(400 * kMiB), 0U);
}

TEST(Unexplained, WhatWasNotUsedOfAnAnnouncementIsNoCredit) {
    Watched process;
    process.memory.may_grow(1000 * kMiB);
    process.look(100 * kMiB);
    process.look(900 * kMiB);
    EXPECT_EQ(process.look(900 * kMiB), 800 * kMiB);
}

TEST(Unexplained, DriversMayTakeALittleForThemselves) {
    Watched process;
    process.memory.may_grow(256 * kMiB);
    process.look(256 * kMiB);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(process.look((256 + 64) * kMiB), 0U);
}

TEST(Unexplained, OneFigureThatPassesSaysNothing) {
    Watched process;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(process.look(i % 2 == 0 ? 900 * kMiB : 0), 0U);
}

TEST(Unexplained, NoLaterWordExplainsIt) {
    Watched process;
    process.look(0);
    process.look(500 * kMiB);
    ASSERT_EQ(process.look(500 * kMiB), 500 * kMiB);
    process.memory.may_grow(Unexplained::kAnything);
    EXPECT_EQ(process.look(500 * kMiB), 500 * kMiB);
    process.memory.may_grow(Unexplained::kAnything);
    EXPECT_EQ(process.look(700 * kMiB), 500 * kMiB) << "what else came with the word is explained";
    EXPECT_EQ(process.look(210 * kMiB), 0U) << "until it is gone";
}

TEST(Unexplained, BeyondTheLimitNoWordExplainsAnything) {
    Watched process;
    process.room = 300 * kMiB;
    process.memory.may_grow(Unexplained::kAnything);
    process.look(1000 * kMiB);
    EXPECT_EQ(process.look(1000 * kMiB), 700 * kMiB);
}

TEST(Unexplained, AnAnnouncementLastsUntilALookThatSettles) {
    Watched process;
    process.memory.may_grow(256 * kMiB);
    process.look(10 * kMiB, false);
    process.look(100 * kMiB, false);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(process.look(256 * kMiB, false), 0U);
}

TEST(Unexplained, ALowerFigureDoesntTakeWhatWasExplained) {
    Watched process;
    process.memory.may_grow(500 * kMiB);
    process.look(500 * kMiB);
    process.look(100 * kMiB);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(process.look(500 * kMiB), 0U);
    process.memory.should_shrink(400 * kMiB);
    process.look(500 * kMiB);
    EXPECT_EQ(process.look(500 * kMiB), 400 * kMiB);
}

TEST(Unexplained, AContextIsExpectedOfEverybody) {
    Watched process;
    process.always = 300 * kMiB;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(process.look(300 * kMiB), 0U);
}

}  // namespace
}  // namespace cgpu::app
