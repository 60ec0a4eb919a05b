// Which process of an instance is blamed for what several hold beyond the limit.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/daemon/app/memory/lease_work.hpp"

namespace cgpu::app::test {
namespace {

TEST(LeaseBlame, ProcessesTogetherHideNoMoreThanTheLimit) {
    LeaseBed bed(8 * kGiB, {}, with(OnEscape::report));
    for (const std::int32_t pid : {1, 2, 3}) {
        bed.enter(pid);
        bed.fronts.changing.insert(pid);
        bed.gpus.shown[pid] = 7 * kGiB;
    }
    for (int i = 0; i < 20; ++i) {
        for (const std::int32_t pid : {1, 2, 3}) bed.leases.moved(bed.key(pid), 0);
        bed.loop.advance(300 * kMs);
    }
    EXPECT_GE(bed.used(), 21 * kGiB);
    EXPECT_GE(bed.unexplained(), 12 * kGiB);
}

/// Process 1 takes all that the limit has room for, and more, behind any word; process 2 is honest.
class BesideAThief : public testing::TestWithParam<bool> {
  protected:
    /// The thief says a word that explains any growth within the limit.
    void steal() {
        bed_.gpus.shown[1] += 3 * kGiB;
        if (GetParam()) bed_.leases.moved(bed_.key(1), 0);
    }
    /// Local memory, which no ask precedes.
    void grow() {
        bed_.gpus.shown[2] += 100 * kMiB;
        bed_.leases.moved(bed_.key(2), 0);
    }
    void expect_only_the_thief_is_killed() {
        ASSERT_FALSE(bed_.processes.killed.empty());
        EXPECT_EQ(std::ranges::count(bed_.processes.killed, 2), 0);
        bed_.leases.process_exited(bed_.key(1).process);
        bed_.gpus.shown.erase(1);
        bed_.processes.killed.clear();
        bed_.loop.advance(10 * kFound);
        EXPECT_TRUE(bed_.processes.killed.empty());
        EXPECT_EQ(bed_.unexplained(), 0U);
        EXPECT_EQ(bed_.used(), 456 * kMiB);
    }

    LeaseBed bed_{kGiB, {}, with(OnEscape::kill)};
};

TEST_P(BesideAThief, AnHonestProcessThatGrowsLaterIsNotNamed) {
    work(bed_, 1);
    work(bed_, 2);
    steal();
    bed_.loop.advance(kFound);
    grow();
    bed_.loop.advance(kFound);
    expect_only_the_thief_is_killed();
}

TEST_P(BesideAThief, AnHonestProcessThatGrowsMeanwhileIsNotNamed) {
    work(bed_, 1);
    work(bed_, 2);
    steal();
    grow();
    bed_.loop.advance(kFound);
    expect_only_the_thief_is_killed();
}

INSTANTIATE_TEST_SUITE_P(LeaseBlame, BesideAThief, testing::Bool());

TEST(LeaseBlame, GrowsAsOthersNeedTheRoom) {
    LeaseBed bed(kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    work(bed, 2);
    bed.gpus.shown[1] += 3 * kGiB;
    bed.leases.moved(bed.key(1), 0);
    bed.loop.advance(kFound);
    const auto before = bed.unexplained();
    bed.gpus.shown[2] += 200 * kMiB;
    bed.leases.moved(bed.key(2), 0);
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.unexplained(), before + 200 * kMiB);
    EXPECT_EQ(bed.used() - bed.unexplained(), kGiB) << "what is explained is within the limit";
}

TEST(LeaseBlame, HonestProcessesThatFillTheLimitTogetherAreNotNamed) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::kill));
    for (const std::int32_t pid : {1, 2, 3}) {
        bed.enter(pid);
        ASSERT_EQ((*bed.ask(pid, 0, LeaseAsk::What::context))->why, wire::Why::none);
        bed.gpus.shown[pid] = 256 * kMiB;
        bed.leases.made(bed.key(pid));
        bed.loop.advance(kSettled);
        ASSERT_EQ((*bed.ask(pid, 1000 * kMiB))->why, wire::Why::none);
        bed.fronts.charges[pid] = 1000 * kMiB;
        bed.gpus.shown[pid] = 1256 * kMiB;
    }
    // They allocate and free all the time, so no query finds their charges unchanged.
    for (const std::int32_t pid : {1, 2, 3}) bed.fronts.changing.insert(pid);
    for (int i = 0; i < 20; ++i) {
        for (const std::int32_t pid : {1, 2, 3}) bed.leases.moved(bed.key(pid), 0);
        bed.loop.advance(300 * kMs);
    }
    EXPECT_EQ(bed.unexplained(), 0U);
    EXPECT_TRUE(bed.processes.killed.empty());
}

}  // namespace
}  // namespace cgpu::app::test
