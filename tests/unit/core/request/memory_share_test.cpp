#include "core/request/memory_share.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/model/bytes.hpp"

namespace cgpu::request {
namespace {

TEST(MemoryShare, IsWhatTheSeedsShow) {
    EXPECT_EQ(memory_limit_mib(16130, 4, 15), 4301U);  // S0
    EXPECT_EQ(model::Bytes::from_mib(4301).count(), 4509925376U);
    EXPECT_EQ(memory_limit_mib(16130, 3, 15), 3226U);  // S0, S1
    EXPECT_EQ(memory_limit_mib(16130, 2, 15), 2150U);  // S3
    EXPECT_EQ(memory_limit_mib(15109, 6, 15), 6043U);  // S4
}

TEST(MemoryShare, DevMayBeRoundedDownOrUp) {
    EXPECT_EQ(memory_limit_mib(16130, 15, 15), 16130U);
    EXPECT_EQ(memory_limit_mib(16130, 16, 16), 16130U);
    EXPECT_EQ(memory_limit_mib(16130, 4, 16), 4032U);
    EXPECT_EQ(memory_limit_mib(15109, 15, 15), 15109U);
    EXPECT_EQ(memory_limit_mib(22731, 6, 23), 5929U);  // S4's A10
    EXPECT_FALSE(memory_limit_mib(16130, 4, 17).has_value());
    EXPECT_FALSE(memory_limit_mib(15109, 4, 16).has_value());
    EXPECT_FALSE(memory_limit_mib(16384, 4, 17).has_value());
    EXPECT_EQ(memory_limit_mib(16384, 4, 16), 4096U);
}

TEST(MemoryShare, MissingDevIsTheWholeGib) {
    EXPECT_EQ(memory_limit_mib(16130, 4, std::nullopt), 4301U);
    EXPECT_EQ(memory_limit_mib(15109, 6, std::nullopt), 6475U);  // of 14
    EXPECT_FALSE(memory_limit_mib(1000, 1, std::nullopt).has_value());
    EXPECT_FALSE(memory_limit_mib(16130, 16, std::nullopt).has_value());
}

TEST(MemoryShare, RefusesNothingAndTooMuch) {
    EXPECT_FALSE(memory_limit_mib(16130, 0, 15).has_value());
    EXPECT_FALSE(memory_limit_mib(16130, 16, 15).has_value());
    EXPECT_FALSE(memory_limit_mib(16130, 1, 0).has_value());
    EXPECT_FALSE(memory_limit_mib(0, 1, 1).has_value());
}

RC_GTEST_PROP(MemoryShare, IsNeverMoreThanTheCardAndSharesFit, ()) {
    const auto total = *rc::gen::inRange<std::uint64_t>(1, 1 << 20);
    const auto dev = *rc::gen::inRange<std::uint64_t>(1, total / 1024 + 2);
    std::uint64_t left = dev;
    std::uint64_t sum = 0;
    while (left > 0) {
        const auto container = *rc::gen::inRange<std::uint64_t>(1, left + 1);
        const auto mib = memory_limit_mib(total, container, dev);
        if (!mib) {
            RC_ASSERT(dev * 1024 >= total + 1024);
            return;
        }
        sum += *mib;
        left -= container;
    }
    RC_ASSERT(sum <= total);
}

TEST(MemoryLimit, InMib) {
    EXPECT_EQ(memory_limit_mib(16130, 4096, std::nullopt, true), 4096U);
    EXPECT_EQ(memory_limit_mib(16130, 4096, 16130, true), 4096U);
    EXPECT_EQ(memory_limit_mib(16130, 16384, 16384, true), 16130U);
    EXPECT_EQ(memory_limit_mib(16130, 8192, 16384, true), 8065U);
    EXPECT_FALSE(memory_limit_mib(16130, 16131, 16130, true));
    EXPECT_FALSE(memory_limit_mib(16130, 1, 16385, true));
    EXPECT_FALSE(memory_limit_mib(16130, 0, 16130, true));
}

// The plugin of that kind doesn't say so: the card's own size tells.
TEST(MemoryLimit, ACardThatCanOnlyBeInMib) {
    EXPECT_EQ(memory_limit_mib(16130, 4096, 16130), 4096U);
    EXPECT_EQ(memory_limit_mib(16130, 16384, 16384), 16130U);
    EXPECT_FALSE(memory_limit_mib(16130, 4, 17));
    EXPECT_FALSE(memory_limit_mib(16130, 4, 8192)) << "another card's";
    EXPECT_FALSE(memory_limit_mib(16130, 4096, 16385));
    EXPECT_FALSE(memory_limit_mib(900, 4, 15));
}

}  // namespace
}  // namespace cgpu::request
