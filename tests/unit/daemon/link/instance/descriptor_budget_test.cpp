#include "daemon/link/instance/descriptor_budget.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace cgpu::link {
namespace {

/// Takes descriptors until there is no room; returns how many it has then.
std::size_t take_all(DescriptorBudget::Share& share) {
    std::size_t count = 0;
    while (share.room()) share.has(++count);
    return count;
}

TEST(DescriptorBudget, a_greedy_instance_gets_a_fifth) {
    DescriptorBudget budget(100'000);
    DescriptorBudget::Share greedy(budget);
    EXPECT_NEAR(static_cast<double>(take_all(greedy)), 20'000, 2);
}

TEST(DescriptorBudget, something_is_left_for_each_that_comes_after_many_greedy_ones) {
    DescriptorBudget budget(100'000);
    std::deque<DescriptorBudget::Share> all;
    std::size_t least = 100'000;
    for (int i = 0; i < 30; ++i) least = std::min(least, take_all(all.emplace_back(budget)));
    EXPECT_GE(least, 25U);
    EXPECT_TRUE(all.emplace_back(budget).room());
}

TEST(DescriptorBudget, what_an_instance_had_is_there_again_at_its_end) {
    DescriptorBudget budget(1000);
    std::size_t first = 0;
    {
        DescriptorBudget::Share gone(budget);
        first = take_all(gone);
    }
    DescriptorBudget::Share next(budget);
    EXPECT_EQ(take_all(next), first);
}

}  // namespace
}  // namespace cgpu::link
