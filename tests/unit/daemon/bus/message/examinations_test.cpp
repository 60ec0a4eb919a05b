#include "daemon/bus/message/examinations.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <vector>

namespace cgpu::bus {
namespace {

TEST(Examinations, AsManyWaitAsAllowed) {
    Examinations all;
    std::vector<std::shared_ptr<const void>> waiting;
    for (std::size_t i = 0; i < Examinations::kMostWaiting; ++i) {
        waiting.push_back(all.begin());
        EXPECT_TRUE(waiting.back());
    }
    EXPECT_FALSE(all.begin());
    waiting.pop_back();
    EXPECT_TRUE(all.begin());
}

TEST(Examinations, ACallWhoseAnswerFailsOrNeverComesWaitsNoMore) {
    Examinations all;
    for (std::size_t i = 0; i < 2 * Examinations::kMostWaiting; ++i) {
        const std::function<void()> fails = [waiting = all.begin()] {
            throw std::runtime_error(waiting ? "the answer can't be made" : "it was refused");
        };
        EXPECT_THROW(fails(), std::runtime_error);
        const std::function<void()> dropped = [waiting = all.begin()] {};
    }
    EXPECT_TRUE(all.begin());
}

TEST(Examinations, TheLastAnswerServesForAWhile) {
    Examinations all;
    EXPECT_EQ(all.last(0, 1000), nullptr);
    all.answered(100, {{"state-dir", sdbus::Variant("/state")}});
    ASSERT_NE(all.last(1099, 1000), nullptr);
    EXPECT_EQ(all.last(1099, 1000)->at("state-dir").get<std::string>(), "/state");
    EXPECT_EQ(all.last(1100, 1000), nullptr);
}

}  // namespace
}  // namespace cgpu::bus
