#include "module/engine/compute/busy_time.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace cgpu::module::test {
namespace {

TEST(BusyTime, CountsOverlapsOnceInWhateverOrder) {
    BusyTime busy;
    EXPECT_EQ(busy.add(50, 100, 0), 50);
    EXPECT_EQ(busy.add(60, 70, 0), 0);
    EXPECT_EQ(busy.add(0, 60, 0), 50);
    EXPECT_EQ(busy.add(90, 120, 0), 20);
    EXPECT_EQ(busy.add(0, 120, 0), 0);
    EXPECT_EQ(busy.add(200, 200, 0), 0);
}

TEST(BusyTime, WhatRunsBesideManyShortOnesIsCountedOnce) {
    BusyTime busy;
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < 1000; ++i) sum += busy.add(i * 100, i * 100 + 10, 0);
    sum += busy.add(0, 100'000, 0);
    EXPECT_EQ(sum, 100'000);
}

RC_GTEST_PROP(BusyTime, IsTheUnion, ()) {
    const auto starts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 300));
    std::vector<char> truth(400, 0);
    BusyTime busy;
    std::int64_t sum = 0;
    std::size_t told = 0;
    for (const int start : starts) {
        if (++told > 14) break;
        const int length = *rc::gen::inRange(0, 60);
        sum += busy.add(start, start + length, 0);
        std::fill_n(truth.begin() + start, length, 1);
        RC_ASSERT(sum == std::accumulate(truth.begin(), truth.end(), std::int64_t{0}));
    }
}

}  // namespace
}  // namespace cgpu::module::test
