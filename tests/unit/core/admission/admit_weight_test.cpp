#include <gtest/gtest.h>

#include "tests/unit/core/support/admissions.hpp"

/// The weight that is granted: min(asked, free), by cGPU's contract.
namespace cgpu::admission {
namespace {

using namespace cgpu::test;
using model::Node;
using model::Policy;
using Reason = model::Refusal::Reason;

Node v100_with(Policy policy, std::uint32_t max_inst = 20) {
    model::GpuSettings settings;
    settings.policy = policy;
    settings.max_inst = max_inst;
    return node({gpu(0, 16130, settings)});
}

request::Variables asking(request::Variables variables) {
    variables["CGPU_MEM"] = "1GiB";
    return variables;
}

TEST(AdmitWeight, IsOneWhereNothingIsSaid) {
    const Grant grant = grant_for(v100(), asking({}));
    EXPECT_EQ(grant.quotas.at(0).weight, 1U);
    EXPECT_TRUE(grant.warnings.empty());
    EXPECT_FALSE(grant.quotas.at(0).high_priority);
    EXPECT_TRUE(grant_for(v100(), asking({{"CGPU_PRIO", "1"}})).quotas.at(0).high_priority);
}

TEST(AdmitWeight, ComesFromTheConfigurationByNameElseByDefault) {
    Defaults defaults;
    defaults.default_weight = 3;
    defaults.weights = {{"trainer", 7}};
    request::Request request = request_in(asking({}));
    EXPECT_EQ(admit(v100(), request, defaults)->quotas.at(0).weight, 3U);
    request.container_name = "trainer";
    EXPECT_EQ(admit(v100(), request, defaults)->quotas.at(0).weight, 7U);
    request.weight = 2;
    EXPECT_EQ(admit(v100(), request, defaults)->quotas.at(0).weight, 2U);
}

TEST(AdmitWeight, IsWhatIsFreeWhereLessIs) {
    Node n = v100_with(Policy::fixed);
    start(n, "a", asking({{"CGPU_WEIGHT", "15"}}));
    const Grant grant = grant_for(n, asking({{"CGPU_WEIGHT", "8"}}));
    EXPECT_EQ(grant.quotas.at(0).weight, 5U);
    ASSERT_EQ(grant.warnings.size(), 1U);
    EXPECT_NE(grant.warnings[0].find("weight 8 was asked for and 5 is free"), std::string::npos)
        << grant.warnings[0];
}

TEST(AdmitWeight, ZeroIsAWarningOrARefusal) {
    Node n = v100();
    start(n, "a", asking({{"CGPU_WEIGHT", "20"}}));
    const Grant grant = grant_for(n, asking({}));
    EXPECT_EQ(grant.quotas.at(0).weight, 0U);
    ASSERT_EQ(grant.warnings.size(), 1U);
    EXPECT_NE(grant.warnings[0].find("it cannot compute"), std::string::npos) << grant.warnings[0];
    Defaults strict;
    strict.no_weight = NoWeight::refuse;
    const auto refusal = refusal_for(n, asking({}), strict);
    EXPECT_EQ(refusal.reason, Reason::no_space);
    EXPECT_NE(refusal.text.find("0 of 20 is free"), std::string::npos) << refusal.text;
}

TEST(AdmitWeight, ZeroHurtsNobodyWhereTheDriverDivides) {
    Node n = v100_with(Policy::native);
    start(n, "a", asking({{"CGPU_WEIGHT", "20"}}));
    Defaults strict;
    strict.no_weight = NoWeight::refuse;
    EXPECT_EQ(grant_for(n, asking({}), strict).quotas.at(0).weight, 0U);
}

TEST(AdmitWeight, BeyondMaxInstIsRefused) {
    const auto refusal = refusal_for(v100_with(Policy::fixed, 10), asking({{"CGPU_WEIGHT", "11"}}));
    EXPECT_EQ(refusal.reason, Reason::invalid);
    EXPECT_NE(refusal.text.find("1 to 10"), std::string::npos) << refusal.text;
}

TEST(AdmitWeight, AConfiguredDefaultBeyondMaxInstIsCut) {
    Defaults defaults;
    defaults.default_weight = 9;
    EXPECT_EQ(grant_for(v100_with(Policy::fixed, 5), asking({}), defaults).quotas.at(0).weight, 5U);
}

TEST(AdmitWeight, PercentIsWholeSlices) {
    EXPECT_EQ(grant_for(v100_with(Policy::fixed), asking({{"CGPU_COMPUTE", "25%"}})).quotas.at(0).weight, 5U);
    EXPECT_EQ(grant_for(v100_with(Policy::fixed), asking({{"CGPU_COMPUTE", "25%"}, {"CGPU_WEIGHT", "5"}}))
                  .quotas.at(0)
                  .weight,
              5U);
    const auto odd = refusal_for(v100_with(Policy::fixed), asking({{"CGPU_COMPUTE", "12%"}}));
    EXPECT_NE(odd.text.find("2 slices (10%) and 3 slices (15%)"), std::string::npos) << odd.text;
    refusal_for(v100_with(Policy::fixed), asking({{"CGPU_COMPUTE", "25%"}, {"CGPU_WEIGHT", "6"}}));
}

TEST(AdmitWeight, APercentageIsRememberedAsSuchWhereAllOfItIsGranted) {
    Node n = v100_with(Policy::fixed);
    EXPECT_EQ(start(n, "a", asking({{"CGPU_COMPUTE", "60%"}})).quotas.at(0).percent, 60U);
    EXPECT_EQ(start(n, "b", asking({{"CGPU_WEIGHT", "4"}})).quotas.at(0).percent, std::nullopt);
    EXPECT_EQ(grant_for(n, asking({{"CGPU_COMPUTE", "20%"}, {"CGPU_WEIGHT", "4"}})).quotas.at(0).percent,
              20U);
    const Grant less = grant_for(n, asking({{"CGPU_COMPUTE", "25%"}}));
    EXPECT_EQ(less.quotas.at(0).weight, 4U);
    EXPECT_EQ(less.quotas.at(0).percent, std::nullopt) << "it doesn't have it";
}

TEST(AdmitWeight, AHundredPercentIsTheWholeGpu) {
    Node n = v100_with(Policy::fixed);
    const Grant grant = start(n, "a", asking({{"CGPU_COMPUTE", "100%"}}));
    EXPECT_TRUE(grant.quotas.at(0).exclusive);
    EXPECT_EQ(grant.quotas.at(0).weight, 20U);
    EXPECT_EQ(refusal_for(n, asking({})).reason, Reason::busy);
    Node used = v100_with(Policy::fixed);
    start(used, "b", asking({}));
    EXPECT_EQ(refusal_for(used, asking({{"CGPU_COMPUTE", "100%"}})).reason, Reason::busy);
}

TEST(AdmitWeight, WithoutEffectIsSaid) {
    for (const Policy policy : {Policy::fair_share, Policy::preemptive, Policy::soft, Policy::native}) {
        const Grant grant = grant_for(v100_with(policy), asking({{"ALIYUN_COM_GPU_SCHD_WEIGHT", "2"}}));
        ASSERT_EQ(grant.warnings.size(), 1U) << to_string(policy);
        EXPECT_NE(grant.warnings[0].find("no effect under policy " + std::string(to_string(policy))),
                  std::string::npos)
            << grant.warnings[0];
    }
    for (const Policy policy : {Policy::weighted, Policy::fixed, Policy::proportional})
        EXPECT_TRUE(
            grant_for(v100_with(policy), asking({{"ALIYUN_COM_GPU_SCHD_WEIGHT", "2"}})).warnings.empty());
    EXPECT_TRUE(grant_for(v100(), asking({{"ALIYUN_COM_GPU_SCHD_WEIGHT", "1"}})).warnings.empty());
}

// A part of one slice is a part that was asked for, too.
TEST(AdmitWeight, AnIgnoredPercentageIsSaidHoweverSmall) {
    const auto asked = asking({{"CGPU_COMPUTE", "5%"}});
    const Grant ignored = grant_for(v100_with(Policy::preemptive), asked);
    ASSERT_EQ(ignored.warnings.size(), 1U);
    EXPECT_NE(ignored.warnings[0].find(": 5% of the compute has no effect under policy preemptive. Try: "
                                       "cgpuctl set-policy 0 proportional."),
              std::string::npos)
        << ignored.warnings[0];
    EXPECT_TRUE(grant_for(v100_with(Policy::proportional), asked).warnings.empty());
}

}  // namespace
}  // namespace cgpu::admission
