#include "daemon/gpu/reader/utilization.hpp"

#include <gtest/gtest.h>

namespace cgpu::gpu {
namespace {

/// NVML as a table of answers.
std::vector<NvmlUtilization> present;
int code = kNvmlSuccess;
unsigned calls = 0;
unsigned long long asked_after = 0;

int utilization(NvmlDevice, NvmlUtilization* to, unsigned* count, unsigned long long after_us) {
    ++calls;
    asked_after = after_us;
    const auto room = *count;
    if (code != kNvmlSuccess) return code;
    *count = static_cast<unsigned>(present.size());
    if (to == nullptr || room < present.size()) return kNvmlInsufficientSize;
    std::copy(present.begin(), present.end(), to);
    // One more process starts between two calls.
    return kNvmlSuccess;
}
int growing(NvmlDevice, NvmlUtilization* to, unsigned* count, unsigned long long after_us) {
    if (calls < 5) present.push_back({77 + calls, 5, 1, 0, 0, 0});
    return utilization(nullptr, to, count, after_us);
}
int list(NvmlDevice, NvmlUtilizationList* asked) {
    EXPECT_EQ(asked->version, 24U | 1U << 24);
    const auto room = asked->count;
    asked->count = 1;
    if (asked->samples == nullptr || room == 0) return kNvmlInsufficientSize;
    asked->samples[0] = {asked->after_us + 1, 5, 40, 0, 0, 0, 0, 0};
    return kNvmlSuccess;
}

struct Utilization : testing::Test {
    Utilization() {
        present = {
            {10, 1000, 90, 1, 0, 0}, {0, 0, 55, 0, 0, 0}, {~0U, 1000, 3, 0, 0, 0}, {11, 0, 250, 0, 0, 0}};
        code = kNvmlSuccess;
        calls = 0;
        nvml.utilization = utilization;
    }
    NvmlLibrary nvml;
};

TEST_F(Utilization, EntriesThatAreOfNoProcessAreLeftOut) {
    const auto samples = read_utilization(nvml, nullptr, 7);
    ASSERT_TRUE(samples);
    ASSERT_EQ(samples->size(), 2U);
    EXPECT_EQ((*samples)[0].pid, 10);
    EXPECT_EQ((*samples)[0].percent, 90U);
    EXPECT_EQ((*samples)[0].time_us, 1000U);
    EXPECT_EQ((*samples)[1].percent, 250U) << "as it was told: who judges clamps it";
    EXPECT_EQ(asked_after, 7U);
}

TEST_F(Utilization, AGrowingListIsAskedForAgain) {
    nvml.utilization = growing;
    const auto samples = read_utilization(nvml, nullptr, 0);
    ASSERT_TRUE(samples);
    EXPECT_GE(samples->size(), 3U);
    EXPECT_LE(calls, 6U);
}

TEST_F(Utilization, NobodyUsesIt) {
    code = kNvmlNotFound;
    const auto samples = read_utilization(nvml, nullptr, 0);
    ASSERT_TRUE(samples);
    EXPECT_TRUE(samples->empty());
    code = kNvmlSuccess;
    present.clear();
    EXPECT_TRUE(read_utilization(nvml, nullptr, 0).value().empty());
}

TEST_F(Utilization, ErrorsAreTold) {
    code = 15;
    EXPECT_EQ(read_utilization(nvml, nullptr, 0).error(), 15);
    code = kNvmlNotSupported;
    EXPECT_EQ(read_utilization(nvml, nullptr, 0).error(), kNvmlNotSupported);
    nvml.utilization = nullptr;
    EXPECT_EQ(read_utilization(nvml, nullptr, 0).error(), kNvmlNotSupported);
}

TEST_F(Utilization, TheLaterFunctionIsAskedWhereTheFirstHasNone) {
    nvml.utilization_list = list;
    ASSERT_TRUE(read_utilization(nvml, nullptr, 9));
    EXPECT_EQ(read_utilization(nvml, nullptr, 9)->size(), 2U) << "of the first one";
    code = kNvmlNotSupported;
    const auto samples = read_utilization(nvml, nullptr, 9);
    ASSERT_TRUE(samples);
    ASSERT_EQ(samples->size(), 1U);
    EXPECT_EQ((*samples)[0].pid, 5);
    EXPECT_EQ((*samples)[0].percent, 40U);
    EXPECT_EQ((*samples)[0].time_us, 10U);
}

}  // namespace
}  // namespace cgpu::gpu
