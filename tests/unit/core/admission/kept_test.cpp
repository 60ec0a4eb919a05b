#include <gtest/gtest.h>

#include "tests/unit/core/support/admissions.hpp"

/// Settings kept by --persist win over the request.
namespace cgpu::admission {
namespace {

using namespace cgpu::test;
using model::Bytes;
using model::KeptFigures;
using model::Node;
using Reason = model::Refusal::Reason;

request::Request asking(const request::Variables& variables, model::KeptOfInstance kept) {
    request::Request request = request_in(variables);
    request.container_name = "web";
    request.kept = std::move(kept);
    return request;
}

KeptFigures memory(std::uint64_t mib) { return {Bytes::from_mib(mib), std::nullopt, std::nullopt}; }
KeptFigures weight(std::uint32_t slices) { return {std::nullopt, slices, std::nullopt}; }

Node fixed(std::uint32_t max_inst = 20) {
    model::GpuSettings settings;
    settings.policy = model::Policy::fixed;
    settings.max_inst = max_inst;
    return node({gpu(0, 16130, settings)});
}

TEST(Kept, GoesBeforeWhatIsAskedForAndIsSaid) {
    const KeptFigures all{Bytes::from_gib(2), 4, true};
    for (const request::Variables& variables :
         {request::Variables{{"CGPU_MEM", "8GiB"}, {"CGPU_WEIGHT", "2"}},
          request::Variables{{"ALIYUN_COM_GPU_MEM_CONTAINER", "4"}, {"ALIYUN_COM_GPU_MEM_DEV", "15"}}}) {
        const auto grant = admit(fixed(), asking(variables, {{0, all}}), {});
        ASSERT_TRUE(grant.has_value()) << grant.error().text;
        EXPECT_EQ(grant->quotas.at(0).memory_limit, Bytes::from_gib(2));
        EXPECT_EQ(grant->quotas.at(0).weight, 4U);
        EXPECT_TRUE(grant->quotas.at(0).high_priority);
        ASSERT_EQ(grant->warnings.size(), 1U);
        EXPECT_EQ(
            grant->warnings[0],
            "what --persist has kept for \"web\" goes before what it asks for: memory limit 2GiB, weight "
            "4, high priority. Try: cgpuctl forget \"web\", for the next start to get what it asks for.");
    }
}

TEST(Kept, WhatIsNotKeptIsAsAskedFor) {
    const auto asked = request::Variables{{"CGPU_MEM", "8GiB"}, {"CGPU_COMPUTE", "25%"}, {"CGPU_PRIO", "1"}};
    const auto grant = admit(fixed(), asking(asked, {{0, memory(2048)}}), {});
    ASSERT_TRUE(grant.has_value()) << grant.error().text;
    EXPECT_EQ(grant->quotas.at(0).weight, 5U);
    EXPECT_EQ(grant->quotas.at(0).percent, 25U);
    EXPECT_TRUE(grant->quotas.at(0).high_priority);
    const auto normal = admit(fixed(), asking(asked, {{0, {std::nullopt, std::nullopt, false}}}), {});
    EXPECT_FALSE(normal->quotas.at(0).high_priority);
    EXPECT_EQ(normal->quotas.at(0).memory_limit, Bytes::from_gib(8));
}

TEST(Kept, AWeightIsANumberOfSlicesAndEndsAPercentage) {
    const auto asked = request::Variables{{"CGPU_MEM", "8GiB"}, {"CGPU_COMPUTE", "100%"}};
    const auto grant = admit(fixed(), asking(asked, {{0, weight(4)}}), {});
    ASSERT_TRUE(grant.has_value()) << grant.error().text;
    EXPECT_EQ(grant->quotas.at(0).weight, 4U);
    EXPECT_EQ(grant->quotas.at(0).percent, std::nullopt);
    EXPECT_FALSE(grant->quotas.at(0).exclusive) << "cut down from 100%";
    EXPECT_TRUE(admit(fixed(), asking(asked, {{0, weight(20)}}), {})->quotas.at(0).exclusive);
    // Not a whole number of slices, but the kept weight replaces it.
    const auto odd = request::Variables{{"CGPU_MEM", "8GiB"}, {"CGPU_COMPUTE", "12%"}};
    EXPECT_TRUE(admit(fixed(), asking(odd, {{0, weight(4)}}), {}).has_value());
}

TEST(Kept, WhatDoesNotFitIsRefusedNamingItAndTheWayOut) {
    Node n = fixed();
    start(n, "other", {{"CGPU_MEM", "12GiB"}});
    const auto request = asking({{"CGPU_MEM", "1GiB"}}, {{0, memory(8192)}});
    const auto placed = admit(n, request, {});
    ASSERT_FALSE(placed.has_value());
    EXPECT_EQ(placed.error().reason, Reason::no_memory);
    expect_well_formed(placed.error());
    EXPECT_TRUE(
        placed.error().text.starts_with("1GiB (for \"web\" --persist has kept: memory limit 8GiB) on GPU 0"))
        << placed.error().text;
    EXPECT_TRUE(
        placed.error().text.ends_with(", or cgpuctl forget \"web\", which drops what --persist has kept."))
        << placed.error().text;
    auto named = request;
    named.gpus.emplace_back(0U);
    EXPECT_EQ(admit(n, named, {}).error().text, placed.error().text);
}

TEST(Kept, AWeightBeyondMaxInstIsRefusedAndOneBeyondWhatIsFreeIsCut) {
    const auto request = asking({{"CGPU_MEM", "1GiB"}}, {{0, weight(8)}});
    const auto refused = admit(fixed(5), request, {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().text.find("weight 8 is asked for, and max_inst is 5"), std::string::npos);
    EXPECT_NE(refused.error().text.find("cgpuctl forget"), std::string::npos);
    Node n = fixed();
    start(n, "other", {{"CGPU_MEM", "1GiB"}, {"CGPU_WEIGHT", "15"}});
    const auto cut = admit(n, request, {});
    ASSERT_TRUE(cut.has_value());
    EXPECT_EQ(cut->quotas.at(0).weight, 5U);
    EXPECT_EQ(cut->warnings.size(), 2U);
}

TEST(Kept, AGpuThatIsGoneIsNoMatterOfTheFigures) {
    auto request = asking({{"CGPU_MEM", "1GiB"}}, {{0, memory(2048)}});
    request.gpus.emplace_back(3U);
    const auto refused = admit(fixed(), request, {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().reason, Reason::not_found);
    EXPECT_EQ(refused.error().text.find("forget"), std::string::npos) << refused.error().text;
}

TEST(Kept, IsOfTheDeviceWhicheverGpuThatBecomes) {
    const Node n = node({gpu(0, 16130), gpu(1, 16130)});
    auto request =
        asking({{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "1,0"}}, {{1, memory(2048)}, {2, memory(4096)}});
    const auto grant = admit(n, request, {});
    ASSERT_TRUE(grant.has_value()) << grant.error().text;
    EXPECT_EQ(grant->quotas.at(0).memory_limit, Bytes::from_gib(1));
    EXPECT_EQ(grant->quotas.at(1).gpu, uuid(0));
    EXPECT_EQ(grant->quotas.at(1).memory_limit, Bytes::from_gib(2));
    ASSERT_EQ(grant->warnings.size(), 1U);
    EXPECT_NE(grant->warnings[0].find("memory limit 2GiB on its device 1. Try"), std::string::npos)
        << "not the third one, which it doesn't ask for: " << grant->warnings[0];
}

TEST(Kept, OfADeviceThatIsNotAskedForMeansNothing) {
    const auto grant = admit(fixed(), asking({{"CGPU_MEM", "1GiB"}}, {{1, memory(2048)}}), {});
    ASSERT_TRUE(grant.has_value());
    EXPECT_EQ(grant->quotas.at(0).memory_limit, Bytes::from_gib(1));
    EXPECT_TRUE(grant->warnings.empty());
}

TEST(Kept, StandsForTheNodesDefaultMemoryToo) {
    const auto request = asking({{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}, {{0, memory(2048)}});
    const auto grant = admit(fixed(), request, {});
    ASSERT_TRUE(grant.has_value()) << grant.error().text;
    EXPECT_TRUE(grant->managed());
    EXPECT_FALSE(
        admit(fixed(), asking({{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}, {{0, weight(4)}}), {})->managed());
}

}  // namespace
}  // namespace cgpu::admission
