// The lists of processes that a managed process sees.
#include <map>

#include "tests/unit/module/front/support/front_nvml.hpp"

namespace {

using namespace cgpu::front::nvml;

class NvmlProcesses : public NvmlFront {
  protected:
    void SetUp() override {
        NvmlFront::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) daemon().processes = 2;
    }
    /// Asks for the size, then for the list, as programs do. Returns bytes by pid.
    template <class Item>
    std::map<unsigned, unsigned long long> listed(const char* name) {
        const auto function = nvml<int(Device, unsigned*, Item*)>(name);
        unsigned count = 0;
        EXPECT_EQ(function(cards_[0], &count, nullptr), kInsufficientSize) << name;
        std::vector<Item> items(count);
        EXPECT_EQ(function(cards_[0], &count, items.data()), kSuccess) << name;
        EXPECT_EQ(count, items.size()) << name;
        std::map<unsigned, unsigned long long> all;
        for (const Item& item : items) all[item.pid] = item.used_bytes;
        return all;
    }

    const std::map<unsigned, unsigned long long> own_{{1000, kMiB}, {1010, 2 * kMiB}};
};

TEST_F(NvmlProcesses, AreTheInstancesInEveryVersionOfTheList) {
    EXPECT_EQ(listed<ProcessV1>("nvmlDeviceGetComputeRunningProcesses"), own_);
    for (const auto* name :
         {"nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3",
          "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v3"})
        EXPECT_EQ(listed<ProcessV2>(name), own_) << name;
    unsigned count = 2;
    ProcessV2 items[2] = {};
    ASSERT_EQ((nvml<int(Device, unsigned*, ProcessV2*)>("nvmlDeviceGetComputeRunningProcesses_v3")(
                  cards_[0], &count, items)),
              kSuccess);
    EXPECT_EQ(items[1].gpu_instance, kNotPartitioned);
    EXPECT_EQ(items[1].compute_instance, kNotPartitioned);
}

TEST_F(NvmlProcesses, AreAllListedHoweverMany) {
    daemon().processes = 100;
    const auto all = listed<ProcessV2>("nvmlDeviceGetComputeRunningProcesses_v3");
    ASSERT_EQ(all.size(), 100U);
    EXPECT_EQ(all.rbegin()->first, listed_process(99).pid);
    EXPECT_EQ(all.rbegin()->second, 100 * kMiB);
}

TEST_F(NvmlProcesses, NoneIsASuccess) {
    daemon().processes = 0;
    for (const Device card : cards_) {
        unsigned count = 7;
        EXPECT_EQ((nvml<int(Device, unsigned*, ProcessV2*)>("nvmlDeviceGetComputeRunningProcesses_v3")(
                      card, &count, nullptr)),
                  kSuccess);
        EXPECT_EQ(count, 0U);
    }
}

TEST_F(NvmlProcesses, TheDriversAreNeverShownInstead) {
    take_daemon_down();
    for (const auto* name :
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"}) {
        ProcessV2 items[8] = {};
        unsigned count = 8;
        EXPECT_EQ((nvml<int(Device, unsigned*, ProcessV2*)>(name)(cards_[0], &count, items)), kUnknown);
        EXPECT_EQ(count, 0U);
        EXPECT_EQ(items[0].pid, 0U);
    }
}

TEST_F(NvmlProcesses, WhatTheDriverKnowsOfOthersIsLeftOut) {
    unsigned count = 8;
    Utilization samples[8] = {};
    const auto utilization =
        nvml<int(Device, Utilization*, unsigned*, unsigned long long)>("nvmlDeviceGetProcessUtilization");
    ASSERT_EQ(utilization(cards_[0], samples, &count, 0), kSuccess);
    ASSERT_EQ(count, 2U);
    EXPECT_EQ(samples[0].pid, 1010U);
    EXPECT_EQ(samples[0].percents[0], 10U);
    EXPECT_EQ(samples[1].pid, 1000U);
    EXPECT_EQ(utilization(cards_[0], samples, &count, 101), kNotFound);
    EXPECT_EQ(utilization(cards_[1], samples, &count, 0), kNotFound) << "a card that is not the instance's";

    count = 8;
    unsigned pids[8] = {};
    ASSERT_EQ(
        (nvml<int(Device, unsigned*, unsigned*)>("nvmlDeviceGetAccountingPids")(cards_[0], &count, pids)),
        kSuccess);
    ASSERT_EQ(count, 2U);
    EXPECT_EQ(pids[0], 1010U);
    const auto stats = nvml<int(Device, unsigned, unsigned*)>("nvmlDeviceGetAccountingStats");
    unsigned said = 0;
    EXPECT_EQ(stats(cards_[0], 5, &said), kNotFound);
    EXPECT_EQ(said, 0U);
    EXPECT_EQ(stats(cards_[0], 1000, &said), kSuccess);
    EXPECT_EQ(said, 1000U);

    count = 1;
    EncoderSession sessions[8] = {};
    const auto encoders = nvml<int(Device, unsigned*, EncoderSession*)>("nvmlDeviceGetEncoderSessions");
    ASSERT_EQ(encoders(cards_[0], &count, sessions), kInsufficientSize);
    ASSERT_EQ(count, 2U);
    ASSERT_EQ(encoders(cards_[0], &count, sessions), kSuccess);
    EXPECT_EQ(sessions[1].pid, 1000U);
}

TEST_F(NvmlProcesses, AreTheInstancesInTheListsThatAreStructures) {
    ProcessDetail details[8] = {};
    const auto list_details = nvml<int(Device, ProcessDetailList*)>("nvmlDeviceGetRunningProcessDetailList");
    for (const unsigned mode : {0U, 1U}) {
        ProcessDetailList list{ProcessDetailList::kVersion, mode, 8, details};
        ASSERT_EQ(list_details(cards_[0], &list), kSuccess);
        ASSERT_EQ(list.count, 2U);
        for (const ProcessDetail& detail : {details[0], details[1]})
            EXPECT_EQ(detail.used_bytes, own_.at(detail.pid));
    }
    ProcessDetailList odd{ProcessDetailList::kVersion, 3, 8, details};
    EXPECT_EQ(list_details(cards_[0], &odd), 2) << "the driver's own answer";
    odd.version = 1;
    EXPECT_EQ(list_details(cards_[0], &odd), kVersionMismatch);

    UtilizationInfo samples[8] = {};
    UtilizationInfoList list{UtilizationInfoList::kVersion, 8, 0, samples};
    ASSERT_EQ(
        (nvml<int(Device, UtilizationInfoList*)>("nvmlDeviceGetProcessesUtilizationInfo")(cards_[0], &list)),
        kSuccess);
    ASSERT_EQ(list.count, 2U);
    EXPECT_EQ(samples[0].pid, 1010U);
}

TEST_F(NvmlProcesses, BeforeInitTheDriversCodeIsTheAnswer) {
    const auto stats = nvml<int(Device, unsigned, unsigned*)>("nvmlDeviceGetAccountingStats");
    const auto list_details = nvml<int(Device, ProcessDetailList*)>("nvmlDeviceGetRunningProcessDetailList");
    const auto list_samples =
        nvml<int(Device, UtilizationInfoList*)>("nvmlDeviceGetProcessesUtilizationInfo");
    ProcessDetailList unknown_details{ProcessDetailList::kVersion + 1, 0, 0, nullptr};
    UtilizationInfoList unknown_samples{UtilizationInfoList::kVersion + 1, 0, 0, nullptr};
    unsigned said = 0;
    ASSERT_EQ(nvml<int()>("nvmlShutdown")(), kSuccess);
    EXPECT_EQ(stats(cards_[0], 1000, &said), kUninitialized);
    EXPECT_EQ(list_details(cards_[0], &unknown_details), kUninitialized);
    EXPECT_EQ(list_samples(cards_[0], &unknown_samples), kUninitialized);
    ASSERT_EQ(nvml<int()>("nvmlInit_v2")(), kSuccess);
    EXPECT_EQ(stats(cards_[0], 1000, &said), kSuccess);
    EXPECT_EQ(list_details(cards_[0], &unknown_details), kVersionMismatch);
    EXPECT_EQ(list_samples(cards_[0], &unknown_samples), kVersionMismatch);
}

TEST_F(NvmlProcesses, WithoutACountTheDriverAnswers) {
    EXPECT_EQ((nvml<int(Device, unsigned*, ProcessV2*)>("nvmlDeviceGetComputeRunningProcesses_v3")(
                  cards_[0], nullptr, nullptr)),
              2);
}

/// On a driver with the longer entries (530).
class NvmlLongEntries : public NvmlProcesses {
  protected:
    const char* front_file() const override { return CGPU_TEST_NVML_FRONT_LONG; }
};

TEST_F(NvmlLongEntries, AreWrittenAsTheDriverWritesThem) {
    for (const auto* name :
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"})
        EXPECT_EQ(listed<ProcessDetail>(name), own_) << name;
    EXPECT_EQ(listed<ProcessV2>("nvmlDeviceGetComputeRunningProcesses_v2"), own_);
}

}  // namespace
