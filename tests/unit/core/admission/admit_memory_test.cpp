#include <gtest/gtest.h>

#include "tests/unit/core/support/admissions.hpp"

/// The memory that is granted, and the refusals.
namespace cgpu::admission {
namespace {

using namespace cgpu::test;
using model::Bytes;
using model::Node;
using Reason = model::Refusal::Reason;

request::Variables share(const std::string& container, const std::string& dev) {
    return {{"ALIYUN_COM_GPU_MEM_CONTAINER", container}, {"ALIYUN_COM_GPU_MEM_DEV", dev}};
}

TEST(AdmitMemory, TheSeedsCases) {
    EXPECT_EQ(grant_for(v100(), share("4", "15")).quotas.at(0).memory_limit.count(), 4509925376U);
    EXPECT_EQ(grant_for(v100(), share("3", "15")).quotas.at(0).memory_limit, Bytes::from_mib(3226));
    EXPECT_EQ(grant_for(node({gpu(0, 15109)}), share("6", "15")).quotas.at(0).memory_limit,
              Bytes::from_mib(6043));
    const Node four = node({gpu(0, 16130), gpu(1, 16130), gpu(2, 16130), gpu(3, 16130)});
    const Grant grant = grant_for(
        four, {{"aliyun.com/gpu-mem", "8"}, {"aliyun.com/gpu-count", "4"}, {"ALIYUN_COM_GPU_MEM_DEV", "15"}});
    ASSERT_EQ(grant.quotas.size(), 4U);
    for (const model::Quota& quota : grant.quotas) EXPECT_EQ(quota.memory_limit, Bytes::from_mib(2150));
}

TEST(AdmitMemory, S4sListOverFourGpus) {
    const Node four = node({gpu(0, 22731), gpu(1, 22731), gpu(2, 22731), gpu(3, 22731)});
    request::Variables variables = share("3,4,5,6", "23");
    variables["NVIDIA_VISIBLE_DEVICES"] = "0,1,2,3";
    const Grant grant = grant_for(four, variables);
    ASSERT_EQ(grant.quotas.size(), 4U);
    const std::vector<std::uint64_t> mib = {2964, 3953, 4941, 5929};
    for (std::uint8_t n = 0; n < 4; ++n) {
        EXPECT_EQ(grant.quotas[n].gpu, uuid(n));
        EXPECT_EQ(grant.quotas[n].memory_limit, Bytes::from_mib(mib[n]));
    }
    variables["ALIYUN_COM_GPU_MEM_CONTAINER"] = "3,1";
    const Grant repeated = grant_for(four, variables);
    EXPECT_EQ(repeated.quotas.at(0).memory_limit, Bytes::from_mib(2964));
    for (const std::size_t n : {1U, 2U, 3U})
        EXPECT_EQ(repeated.quotas.at(n).memory_limit, Bytes::from_mib(988));
}

TEST(AdmitMemory, TheDefaultIsForWhoNamesNoAmount) {
    Defaults defaults;
    defaults.default_memory = Bytes::from_gib(2);
    EXPECT_EQ(grant_for(v100(), {{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}, defaults).quotas.at(0).memory_limit,
              Bytes::from_gib(2));
    EXPECT_FALSE(grant_for(v100(), {{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}).managed());
}

TEST(AdmitMemory, WhatIsNotFreeIsRefusedWithTheFigures) {
    Node n = v100();
    start(n, "a", {{"CGPU_MEM", "10GiB"}});
    const auto refusal = refusal_for(n, {{"CGPU_MEM", "8GiB"}});
    EXPECT_EQ(refusal.reason, Reason::no_memory);
    for (const char* part : {"8GiB", "5890MiB of 16130MiB is free", "GPU 0 (GPU-", "5890MiB or less"})
        EXPECT_NE(refusal.text.find(part), std::string::npos) << part << " in: " << refusal.text;
}

TEST(AdmitMemory, MoreThanTheCardIsRefused) {
    EXPECT_EQ(refusal_for(v100(), {{"CGPU_MEM", "16GiB"}}).reason, Reason::no_memory);
    EXPECT_EQ(refusal_for(v100(), share("16", "15")).reason, Reason::invalid);
    const auto refusal = refusal_for(v100(), share("4", "17"));
    EXPECT_EQ(refusal.reason, Reason::invalid);
    EXPECT_NE(refusal.text.find("less than the 17GiB"), std::string::npos) << refusal.text;
    EXPECT_NE(refusal.text.find("ALIYUN_COM_GPU_MEM_DEV=15"), std::string::npos) << refusal.text;
}

TEST(AdmitMemory, AllOfItIsTheWholeGpu) {
    Node n = v100();
    const Grant grant = start(n, "a", share("15", "15"));
    EXPECT_EQ(grant.quotas.at(0).memory_limit, Bytes::from_mib(16130));
    EXPECT_EQ(grant.quotas.at(0).weight, 20U);
    EXPECT_TRUE(grant.warnings.empty());
    EXPECT_EQ(refusal_for(n, {{"CGPU_MEM", "1MiB"}}).reason, Reason::no_memory);
    Node used = v100();
    start(used, "b", {{"CGPU_MEM", "1MiB"}});
    EXPECT_EQ(refusal_for(used, share("15", "15")).reason, Reason::no_memory);
}

TEST(AdmitMemory, NothingIsGrantedInPart) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    request::Variables second = {{"CGPU_MEM", "10GiB"}, {"CGPU_GPUS", "1"}};
    start(n, "a", second);
    const Node before = n;
    second["CGPU_GPUS"] = "0,1";
    const auto refusal = refusal_for(n, second);
    EXPECT_NE(refusal.text.find("GPU 1 ("), std::string::npos) << refusal.text;
    EXPECT_EQ(n, before);
}

TEST(AdmitMemory, AGpuTakesMaxInstInstances) {
    model::GpuSettings settings;
    settings.max_inst = 2;
    Node n = node({gpu(0, 16130, settings)});
    start(n, "a", {{"CGPU_MEM", "1GiB"}});
    start(n, "b", {{"CGPU_MEM", "1GiB"}});
    const auto refusal = refusal_for(n, {{"CGPU_MEM", "1GiB"}});
    EXPECT_EQ(refusal.reason, Reason::no_space);
    EXPECT_NE(refusal.text.find("max_inst is 2"), std::string::npos) << refusal.text;
}

TEST(AdmitMemory, NamedGpusMustBeThere) {
    const auto refusal = refusal_for(v100(), {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "7"}});
    EXPECT_EQ(refusal.reason, Reason::not_found);
    EXPECT_NE(refusal.text.find("this node has GPU 0"), std::string::npos) << refusal.text;
    refusal_for(v100(), {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0," + uuid(0).to_string()}});
    EXPECT_NE(refusal_for(Node{}, {{"CGPU_MEM", "1GiB"}}).text.find("this node has none"), std::string::npos);
    EXPECT_EQ(grant_for(v100(), {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", uuid(0).to_string()}}).quotas.at(0).gpu,
              uuid(0));
}

}  // namespace
}  // namespace cgpu::admission
