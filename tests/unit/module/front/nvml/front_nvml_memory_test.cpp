#include <sys/wait.h>

#include "tests/unit/module/front/support/front_nvml.hpp"

namespace {

using cgpu::front::nvml::kInvalidArgument;
using cgpu::front::nvml::kNoPermission;
using cgpu::front::nvml::kUnknown;
using cgpu::front::nvml::MemoryLimits;

class NvmlMemory : public NvmlFront {
  protected:
    /// nvmlMemory_t: total, free, used.
    int memory(int card) {
        return nvml<int(void*, unsigned long long*)>("nvmlDeviceGetMemoryInfo")(cards_[card], memory_);
    }
    int memory_v2(int card) {
        memory_[0] = 40 | 2u << 24;
        return nvml<int(void*, unsigned long long*)>("nvmlDeviceGetMemoryInfo_v2")(cards_[card], memory_);
    }

    int limits(int card) {
        return nvml<int(void*, MemoryLimits*)>("nvmlDeviceGetMemoryLimits_v1")(cards_[card], &limits_);
    }

    unsigned long long memory_[5] = {};
    MemoryLimits limits_{"/sys/fs/cgroup", 1, 2, 3};
};

TEST_F(NvmlMemory, ShowsTheInstancesMemoryAsCudaDoes) {
    daemon().limit_bytes = kContextEstimate + 300 * kMiB;
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(100 * kMiB, &address), 0);
    ASSERT_EQ(memory(0), 0);
    EXPECT_EQ(memory_[0], daemon().limit_bytes);
    EXPECT_EQ(memory_[1], 200 * kMiB);
    EXPECT_EQ(memory_[2], kContextEstimate + 100 * kMiB);
    ASSERT_EQ(memory_v2(0), 0);
    EXPECT_EQ(memory_[1], daemon().limit_bytes);
    EXPECT_EQ(memory_[2], 0u);
    EXPECT_EQ(memory_[3], 200 * kMiB);
    EXPECT_EQ(memory_[4], kContextEstimate + 100 * kMiB);
}

TEST_F(NvmlMemory, NeverShowsTheCardsFiguresInstead) {
    EXPECT_EQ(memory(1), kNoPermission);
    EXPECT_EQ(memory_[0], 0u);
    take_daemon_down();
    EXPECT_EQ(memory(0), kUnknown);
    EXPECT_EQ(memory_[0], 0u);
    daemon().down = 0;
    ASSERT_TRUE(eventually([&] { return daemon().is_down == 0; }));
    EXPECT_EQ(memory(0), 0);
    EXPECT_EQ(memory_[0], daemon().limit_bytes);
}

TEST_F(NvmlMemory, TheDriversLimitIsTheInstancesWhicheverCgroupIsAskedFor) {
    daemon().limit_bytes = kContextEstimate + 300 * kMiB;
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(100 * kMiB, &address), 0);
    ASSERT_EQ(limits(0), 0);
    EXPECT_EQ(limits_.soft, daemon().limit_bytes);
    EXPECT_EQ(limits_.hard, daemon().limit_bytes);
    EXPECT_EQ(limits_.used, kContextEstimate + 100 * kMiB);
    limits_ = {"/sys/fs/cgroup/of/a/neighbour", 1, 2, 3};
    ASSERT_EQ(limits(0), 0);
    EXPECT_EQ(limits_.hard, daemon().limit_bytes);
    limits_ = {"/sys/fs/cgroup", 1, 2, 3};
    EXPECT_EQ(limits(1), kNoPermission);
    EXPECT_EQ(limits_.hard, 2u);
    limits_.cgroup = nullptr;
    EXPECT_EQ(limits(0), kInvalidArgument);
}

TEST_F(NvmlMemory, TheDriversLimitsAreSetByTheNodeOnly) {
    const auto set = nvml<int(void*, void*)>("nvmlDeviceSetMemoryLimits_v1");
    EXPECT_EQ(set(cards_[0], memory_), kNoPermission);
    EXPECT_EQ(set(cards_[1], memory_), kNoPermission);
}

TEST_F(NvmlMemory, SharingOnlyShowsTheCard) {
    daemon().isolate_memory = 0;
    ASSERT_EQ(limits(0), 0);
    EXPECT_EQ(limits_.hard, 8ull << 30);
    ASSERT_EQ(memory(0), 0);
    EXPECT_EQ(memory_[0], 16ull << 30);
    EXPECT_EQ(memory_[2], 5ull << 30);
}

TEST_F(NvmlMemory, SurvivesClosedDescriptorsAndForks) {
    ASSERT_EQ(memory(0), 0);
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    EXPECT_EQ(memory(0), 0);
    const pid_t child = fork();
    if (child == 0) _exit(memory(0) == 0 && daemon().greeted == 3 ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
