#include <gtest/gtest.h>

#include "core/admission/unmanaged.hpp"
#include "tests/unit/core/support/admissions.hpp"

/// The GPUs for a container that names none.
namespace cgpu::admission {
namespace {

using namespace cgpu::test;
using model::Node;

Node three() { return node({gpu(0, 16130), gpu(1, 16130), gpu(2, 16130)}); }

Defaults spreading() {
    Defaults defaults;
    defaults.placement = Placement::spread;
    return defaults;
}

const request::Variables kGib = {{"CGPU_MEM", "1GiB"}};

TEST(Placement, AllAreEveryGpuByIndex) {
    const Grant grant = grant_for(three(), {{"CGPU_MEM", "1GiB,2GiB"}, {"CGPU_GPUS", "all"}});
    ASSERT_EQ(grant.quotas.size(), 3U);
    for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(grant.quotas[i].gpu, uuid(i));
    EXPECT_EQ(grant.quotas[0].memory_limit, model::Bytes::from_gib(1));
    EXPECT_EQ(grant.quotas[2].memory_limit, model::Bytes::from_gib(2)) << "the last one repeats";
}

TEST(Placement, AllIsRefusedWhereOneOfThemCannotTakeIt) {
    Node n = three();
    start(n, "a", {{"CGPU_MEM", "16000MiB"}, {"CGPU_GPUS", "1"}});
    const request::Variables all = {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "all"}};
    EXPECT_FALSE(admit(n, test::request_in(all), {}));
    const request::Variables too_long = {{"CGPU_MEM", "1GiB,1GiB,1GiB,1GiB"}, {"CGPU_GPUS", "all"}};
    const auto refused = admit(three(), test::request_in(too_long), {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("memory for 4 GPUs: the node has 3"), std::string::npos)
        << refused.error().text;
}

TEST(Placement, BinpackTakesTheFullestThatFits) {
    Node n = three();
    start(n, "a", {{"CGPU_MEM", "10GiB"}, {"CGPU_GPUS", "1"}});
    EXPECT_EQ(grant_for(n, kGib).quotas.at(0).gpu, uuid(1));
    EXPECT_EQ(grant_for(n, {{"CGPU_MEM", "8GiB"}}).quotas.at(0).gpu, uuid(0));
}

TEST(Placement, SpreadTakesTheEmptiest) {
    Node n = three();
    for (const char* name : {"a", "b", "c"}) start(n, name, kGib, spreading());
    for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(n.occupants_of(uuid(i)).size(), 1U);
}

TEST(Placement, TheLowerIndexWinsATie) {
    EXPECT_EQ(grant_for(three(), kGib).quotas.at(0).gpu, uuid(0));
    EXPECT_EQ(grant_for(three(), kGib, spreading()).quotas.at(0).gpu, uuid(0));
}

TEST(Placement, AGpuWithTheWeightWantedComesFirst) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    start(n, "a", {{"CGPU_MEM", "1GiB"}, {"CGPU_WEIGHT", "20"}});
    const Grant grant = grant_for(n, kGib);
    EXPECT_EQ(grant.quotas.at(0).gpu, uuid(1));
    EXPECT_EQ(grant.quotas.at(0).weight, 1U);
}

TEST(Placement, AmountsOfAListFindTheGpusTheyFitOn) {
    Node n = node({gpu(0, 4096), gpu(1, 2048), gpu(2, 8192)});
    for (const Defaults& defaults : {Defaults{}, spreading()}) {
        const Grant grant = grant_for(n, {{"CGPU_MEM", "2GiB,8GiB,4GiB"}}, defaults);
        ASSERT_EQ(grant.quotas.size(), 3U);
        EXPECT_EQ(grant.quotas[0].gpu, uuid(1));
        EXPECT_EQ(grant.quotas[1].gpu, uuid(2));
        EXPECT_EQ(grant.quotas[2].gpu, uuid(0));
    }
}

TEST(Placement, ARefusalSaysWhyForEachGpu) {
    Node n = node({gpu(0, 4096), gpu(1, 2048)});
    start(n, "a", {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}});
    const auto refusal = refusal_for(n, {{"CGPU_MEM", "4GiB"}});
    EXPECT_EQ(refusal.reason, model::Refusal::Reason::no_memory);
    for (const char* part : {"4GiB on 1 GPU: no GPU can take it", "(GPU 0: 3072MiB of 4096MiB is free; ",
                             "GPU 1: the whole GPU has 2048MiB)"})
        EXPECT_NE(refusal.text.find(part), std::string::npos) << part << " in: " << refusal.text;
    const auto several = refusal_for(n, {{"CGPU_MEM", "3GiB"}, {"aliyun.com/gpu-count", "2"}});
    EXPECT_NE(several.text.find("3GiB on 2 GPUs: 1 GPU(s) can take it"), std::string::npos) << several.text;
}

TEST(Placement, ARefusalSaysOnceWhatSeveralGpusHaveInCommon) {
    const Node n = node({gpu(0, 4096), gpu(1, 2048), gpu(2, 4096)});
    EXPECT_TRUE(
        refusal_for(n, {{"CGPU_MEM", "8GiB"}})
            .text.starts_with("8GiB on 1 GPU: no GPU can take it (GPUs 0, 2: the whole GPU has 4096MiB; "
                              "GPU 1: the whole GPU has 2048MiB). Try: "))
        << refusal_for(n, {{"CGPU_MEM", "8GiB"}}).text;
}

TEST(Placement, AbsentAndObstructedGpusAreLeftOut) {
    model::Sighting mps = gpu(0, 16130);
    mps.gpu.obstacle = "the card is in exclusive-process mode";
    Node n = node({mps, gpu(1, 16130), gpu(2, 16130)});
    ASSERT_TRUE(n.sync_gpus({mps, gpu(2, 16130)}).has_value());
    EXPECT_EQ(grant_for(n, kGib).quotas.at(0).gpu, uuid(2));
    EXPECT_NE(refusal_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}}).text.find("exclusive-process"),
              std::string::npos);
}

TEST(Placement, LessIsNotTheRemedyIfNoGpuTakesAnything) {
    model::Sighting mig = gpu(0, 16130);
    mig.gpu.obstacle = "it is in MIG mode";
    EXPECT_TRUE(refusal_for(node({mig}), kGib).text.ends_with("Try: use another GPU."));
    model::Sighting mps = gpu(1, 16130);
    mps.gpu.obstacle = "an MPS server uses it";
    const std::string text = refusal_for(node({mig, mps}), kGib).text;
    EXPECT_NE(text.find("GPU 0: it is in MIG mode; GPU 1: an MPS server uses it"), std::string::npos) << text;
    EXPECT_NE(text.find("Try: cgpuctl doctor"), std::string::npos) << text;
    EXPECT_NE(refusal_for(node({mig, gpu(1, 512)}), kGib).text.find("ask for less"), std::string::npos);
}

TEST(Placement, ADrainedGpuTakesNoNewInstance) {
    Node n = three();
    start(n, "a", {{"CGPU_MEM", "10GiB"}, {"CGPU_GPUS", "0"}});
    ASSERT_TRUE(n.set_drained(uuid(0), true).has_value());
    EXPECT_EQ(n.occupants_of(uuid(0)).size(), 1U) << "who is there stays";
    EXPECT_EQ(grant_for(n, kGib).quotas.at(0).gpu, uuid(1)) << "although the first one is the fullest";
    const request::Variables all = {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "all"}};
    for (const auto& asked : {request::Variables{{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}}, all}) {
        const auto refusal = refusal_for(n, asked);
        EXPECT_EQ(refusal.reason, model::Refusal::Reason::busy);
        EXPECT_TRUE(
            refusal.text.ends_with("): it is drained: it takes no new instance. Try: use another GPU, "
                                   "or cgpuctl undrain 0."))
            << refusal.text;
    }
    ASSERT_TRUE(n.set_drained(uuid(0), false).has_value());
    EXPECT_EQ(grant_for(n, kGib).quotas.at(0).gpu, uuid(0));
}

TEST(Placement, WhereDrainedGpusAreInTheWayUndrainIsARemedy) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    ASSERT_TRUE(n.set_drained(uuid(0), true).has_value());
    const auto big = refusal_for(n, {{"CGPU_MEM", "20GiB"}});
    EXPECT_TRUE(big.text.ends_with(
        "Try: ask for less, or stop an instance (cgpuctl list shows them), or cgpuctl undrain 0."))
        << big.text;
    ASSERT_TRUE(n.set_drained(uuid(1), true).has_value());
    const auto none = refusal_for(n, kGib);
    EXPECT_EQ(none.reason, model::Refusal::Reason::busy);
    EXPECT_TRUE(
        none.text.ends_with("no GPU can take it (GPUs 0, 1: it is drained: it takes no new instance). "
                            "Try: cgpuctl undrain 0 1."))
        << none.text;
}

TEST(Placement, AGpuThatTakesNobodyIsNotUndrained) {
    model::Sighting mig = gpu(0, 16130);
    mig.gpu.obstacle = "it is in MIG mode";
    Node n = node({mig});
    ASSERT_TRUE(n.set_drained(uuid(0), true).has_value());
    EXPECT_TRUE(refusal_for(n, kGib).text.ends_with("it is in MIG mode. Try: use another GPU."));
}

TEST(Placement, ADrainedGpuIsNotBookedWhole) {
    Node n = three();
    ASSERT_TRUE(n.set_drained(uuid(1), true).has_value());
    for (const auto& gpus : {std::vector<model::Uuid>{}, {uuid(1)}}) {
        const auto booked = book_whole(n, "container x", gpus);
        ASSERT_FALSE(booked.has_value());
        EXPECT_EQ(booked.error().reason, model::Refusal::Reason::busy);
        EXPECT_NE(booked.error().text.find("cgpuctl undrain 1"), std::string::npos) << booked.error().text;
    }
    EXPECT_TRUE(book_whole(n, "container x", {uuid(0)}).has_value());
}

}  // namespace
}  // namespace cgpu::admission
