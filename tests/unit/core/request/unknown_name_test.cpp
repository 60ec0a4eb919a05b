#include "core/request/unknown_name.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/support/requests.hpp"

namespace cgpu::request {
namespace {

std::string likely(const std::string& name) {
    const auto unknown = find_unknown_name({{name, "4"}});
    EXPECT_TRUE(unknown) << name;
    return unknown ? std::string(unknown->likely) : "";
}

TEST(UnknownName, IsToldWithTheLikelyOne) {
    EXPECT_EQ(likely("CGPU_MEMORY"), "CGPU_MEM");
    EXPECT_EQ(likely("CGPU_WIEGHT"), "CGPU_WEIGHT");
    EXPECT_EQ(likely("CGPU_PRIORITY"), "CGPU_PRIO");
    EXPECT_EQ(likely("CGPU_GPU"), "CGPU_GPUS");
    EXPECT_EQ(likely("CGPU_mem"), "CGPU_MEM");
    EXPECT_EQ(likely("ALIYUN_COM_GPU_MEM_CONTAINERS"), "ALIYUN_COM_GPU_MEM_CONTAINER");
    EXPECT_EQ(likely("ALIYUN_COM_GPU_SCHED_WEIGHT"), "ALIYUN_COM_GPU_SCHD_WEIGHT");
    EXPECT_EQ(likely("CGPU_SOMETHING_ELSE_ALTOGETHER"), "");
    EXPECT_EQ(likely("CGPU_"), "");
}

TEST(UnknownName, IsNoneOfThoseThatStandInEnvironments) {
    for (const char* name : {"CGPU_MEM",
                             "CGPU_COMPUTE",
                             "CGPU_WEIGHT",
                             "CGPU_GPUS",
                             "CGPU_PRIO",
                             "CGPU_MODE",
                             "CGPU_DISABLE",
                             "ALIYUN_COM_GPU_MEM_CONTAINER",
                             "ALIYUN_COM_GPU_MEM_DEV",
                             "ALIYUN_COM_GPU_VISIBLE_DEVICES",
                             "ALIYUN_COM_GPU_SCHD_WEIGHT",
                             "ALIYUN_COM_GPU_HIGH_PRIO",
                             "ALIYUN_COM_GPU_MEM_IDX",
                             "CGPU_LAB",
                             "CGPU_LAB_PACKAGE",
                             "CGPU_TEST_SCALE",
                             "CGPUS",
                             "cgpu_mem",
                             "NVIDIA_VISIBLE_DEVICES",
                             "aliyun.com/gpu-mem"})
        EXPECT_FALSE(find_unknown_name({{name, "1"}})) << name;
    EXPECT_FALSE(find_unknown_name({{"CGPU_MEMORY", "1GiB"}, {"CGPU_DISABLE", "true"}}));
    EXPECT_TRUE(find_unknown_name({{"CGPU_MEMORY", "1GiB"}, {"CGPU_DISABLE", "0"}}));
}

TEST(UnknownName, IsRefusedInOneSentence) {
    const auto refusal = refuse_unknown_name(*find_unknown_name({{"CGPU_MEMORY", "1GiB"}}));
    EXPECT_EQ(
        refusal.text,
        "CGPU_MEMORY=\"1GiB\": cgpu knows no such variable. Try: CGPU_MEM, or unknown_variables: warn in "
        "/etc/cgpu/cgpud.yaml.");
}

RC_GTEST_PROP(UnknownName, AnyNameIsAnsweredInPlainText,
              (const std::string& rest, const std::string& value)) {
    const auto unknown = find_unknown_name({{"CGPU_" + rest, value}});
    if (!unknown) return;
    const auto refusal = refuse_unknown_name(*unknown);
    test::expect_well_formed(refusal);
    for (const char c : refusal.text) RC_ASSERT(c >= 0x20 && c < 0x7f);
    RC_ASSERT(refusal.text.size() < 1000U);
}

}  // namespace
}  // namespace cgpu::request
