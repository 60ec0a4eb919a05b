#include <gtest/gtest.h>

#include "core/request/percent.hpp"
#include "tests/unit/core/support/requests.hpp"

/// Weight, percentage, priority and mode.
namespace cgpu::request {
namespace {

using namespace cgpu::test;
using model::Mode;

Variables with_memory(Variables variables) {
    variables["CGPU_MEM"] = "1GiB";
    return variables;
}

TEST(RequestCompute, Weight) {
    EXPECT_EQ(request_in(with_memory({})).weight, std::nullopt);
    EXPECT_EQ(request_in(with_memory({{"ALIYUN_COM_GPU_SCHD_WEIGHT", "1"}})).weight, 1U);
    EXPECT_EQ(request_in(with_memory({{"ALIYUN_COM_GPU_SCHD_WEIGHT", "25"}})).weight, 25U);
    EXPECT_EQ(request_in(with_memory({{"CGPU_WEIGHT", "4"}, {"ALIYUN_COM_GPU_SCHD_WEIGHT", "4"}})).weight,
              4U);
    for (const char* text : {"0", "26", "-1", "two", "1.5", "1 2", "0x1", "18446744073709551617"})
        refusal_in(with_memory({{"ALIYUN_COM_GPU_SCHD_WEIGHT", text}}), "ALIYUN_COM_GPU_SCHD_WEIGHT");
    refusal_in(with_memory({{"CGPU_WEIGHT", "4"}, {"ALIYUN_COM_GPU_SCHD_WEIGHT", "5"}}), "different things");
}

TEST(RequestCompute, Percent) {
    EXPECT_EQ(request_in(with_memory({{"CGPU_COMPUTE", "25%"}})).percent, 25U);
    EXPECT_EQ(request_in(with_memory({{"CGPU_COMPUTE", "100%"}})).percent, 100U);
    EXPECT_EQ(request_in(with_memory({{"CGPU_COMPUTE", "7"}})).percent, 7U);
    for (const char* text : {"0%", "101%", "%", "25%%", "quarter", "-5%", "12.5%"})
        refusal_in(with_memory({{"CGPU_COMPUTE", text}}), "CGPU_COMPUTE");
}

TEST(RequestCompute, HuaweisPercentageIsInStepsOfFive) {
    EXPECT_EQ(request_in(with_memory({{"volcano.sh/gpu-core.percentage", "5"}})).percent, 5U);
    EXPECT_EQ(request_in(with_memory({{"volcano.sh/gpu-core.percentage", "100"}})).percent, 100U);
    for (const char* text : {"0", "105", "101"})
        refusal_in(with_memory({{"volcano.sh/gpu-core.percentage", text}}), "volcano.sh/gpu-core.percentage");
    const auto between = refusal_in(with_memory({{"volcano.sh/gpu-core.percentage", "23"}}), "multiple of 5");
    EXPECT_NE(between.find("20 or 25"), std::string::npos) << between;
    refusal_in(with_memory({{"volcano.sh/gpu-core.percentage", "3"}}), "Try: 5.");
    refusal_in(with_memory({{"volcano.sh/gpu-core.percentage", "25"}, {"CGPU_COMPUTE", "30%"}}),
               "different things");
}

TEST(RequestCompute, ComputeWithoutMemoryIsRefused) {
    for (const char* name : {"CGPU_COMPUTE", "CGPU_WEIGHT", "CGPU_GPUS", "CGPU_PRIO", "CGPU_MODE",
                             "volcano.sh/gpu-core.percentage"}) {
        refusal_in({{name, "1"}}, "no memory is asked for");
        EXPECT_TRUE(is_unmanaged({{name, "1"}, {"ALIYUN_COM_GPU_MEM_CONTAINER", "0"}})) << name;
    }
    refusal_in(with_memory({{"CGPU_MODE", "compute"}}), "compute is not isolated without memory");
}

TEST(RequestCompute, Priority) {
    EXPECT_EQ(request_in(with_memory({})).high_priority, std::nullopt);
    EXPECT_EQ(request_in(with_memory({{"ALIYUN_COM_GPU_HIGH_PRIO", "1"}})).high_priority, true);
    EXPECT_EQ(request_in(with_memory({{"ALIYUN_COM_GPU_HIGH_PRIO", "0"}})).high_priority, false);
    EXPECT_EQ(
        request_in(with_memory({{"CGPU_PRIO", "high"}, {"ALIYUN_COM_GPU_HIGH_PRIO", "1"}})).high_priority,
        true);
    refusal_in(with_memory({{"ALIYUN_COM_GPU_HIGH_PRIO", "2"}}), "ALIYUN_COM_GPU_HIGH_PRIO=\"2\"");
    refusal_in(with_memory({{"CGPU_PRIO", "1"}, {"ALIYUN_COM_GPU_HIGH_PRIO", "0"}}), "different things");
}

TEST(RequestCompute, Modes) {
    EXPECT_EQ(request_in(with_memory({})).mode, std::nullopt);
    EXPECT_EQ(request_in(with_memory({{"CGPU_MODE", "none"}})).mode, Mode::none);
    EXPECT_EQ(request_in(with_memory({{"CGPU_MODE", "memory"}})).mode, Mode::memory);
    EXPECT_EQ(request_in(with_memory({{"CGPU_MODE", "memory+compute"}})).mode, Mode::memory_compute);
    refusal_in(with_memory({{"CGPU_MODE", "Memory"}}), "CGPU_MODE=\"Memory\"");
    refusal_in(with_memory({{"CGPU_MODE", "memory"}, {"CGPU_COMPUTE", "25%"}}), "25% of it is asked for");
    refusal_in(with_memory({{"CGPU_MODE", "none"}, {"volcano.sh/gpu-core.percentage", "25"}}),
               "CGPU_MODE=\"none\"");
}

TEST(PercentToSlices, IsWholeOrNamesBothNeighbours) {
    EXPECT_EQ(percent_to_slices(5, 20), 1U);
    EXPECT_EQ(percent_to_slices(25, 20), 5U);
    EXPECT_EQ(percent_to_slices(100, 7), 7U);
    EXPECT_EQ(percent_to_slices(12, 25), 3U);
    const auto odd = percent_to_slices(12, 20);
    ASSERT_FALSE(odd.has_value());
    EXPECT_NE(odd.error().find("between 2 slices (10%) and 3 slices (15%)"), std::string::npos)
        << odd.error();
    EXPECT_NE(percent_to_slices(3, 20).error().find("0 slices (0%) and 1 slice (5%)"), std::string::npos);
    EXPECT_NE(percent_to_slices(25, 7).error().find("1 slice (14.28%) and 2 slices (28.57%)"),
              std::string::npos);
    EXPECT_NE(percent_to_slices(5, 24).error().find("1 slice (4.16%)"), std::string::npos);
}

}  // namespace
}  // namespace cgpu::request
