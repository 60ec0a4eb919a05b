#include "tests/sim/model/block_heap.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace simgpu::test {
namespace {

TEST(BlockHeap, TakesTheFirstPlaceThatFitsAndMergesWhatIsGivenBack) {
    BlockHeap heap;
    heap.add({kBlock, kBlock});
    EXPECT_EQ(heap.take(1), kBlock);
    EXPECT_EQ(heap.take(513), kBlock + 512);
    EXPECT_EQ(heap.take(512), kBlock + 1536);
    EXPECT_EQ(heap.give_back(kBlock + 512), 1024U);
    EXPECT_EQ(heap.take(1025), kBlock + 2048);
    EXPECT_EQ(heap.take(1000), kBlock + 512);
    EXPECT_EQ(heap.give_back(kBlock + 5), 0U);
    EXPECT_FALSE(heap.take(kBlock));
    EXPECT_TRUE(heap.remove_empty(0).empty());
}

RC_GTEST_PROP(BlockHeapProperty, NothingOverlapsAndAllComesBack, ()) {
    BlockHeap heap;
    heap.add({kBlock, kBlock});
    heap.add({10 * kBlock, 3 * kBlock});
    std::map<std::uint64_t, std::uint64_t> taken;
    std::uint64_t used = 0;
    for (int step = 0; step < 200; ++step) {
        if (taken.empty() || *rc::gen::inRange(0, 3) > 0) {
            const auto size = *rc::gen::inRange<std::uint64_t>(1, 300'000);
            const auto address = heap.take(size);
            if (!address) continue;
            RC_ASSERT(*address % kGranule == 0U);
            const auto next = taken.lower_bound(*address);
            if (next != taken.end()) RC_ASSERT(*address + size <= next->first);
            if (next != taken.begin())
                RC_ASSERT(std::prev(next)->first + std::prev(next)->second <= *address);
            taken[*address] = size;
            used += round_up(size, kGranule);
        } else {
            const auto victim =
                std::next(taken.begin(), *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(taken)));
            used -= heap.give_back(victim->first);
            taken.erase(victim);
        }
        RC_ASSERT(heap.used() == used);
    }
    for (const auto& [address, size] : taken) heap.give_back(address);
    RC_ASSERT(heap.remove_empty(0).size() == 2U);
    RC_ASSERT(heap.reserved() == 0U);
}

}  // namespace
}  // namespace simgpu::test
