#include <gtest/gtest.h>

#include "tests/unit/core/support/requests.hpp"

/// Which GPUs the variables name.
namespace cgpu::request {
namespace {

using namespace cgpu::test;

constexpr const char* kUuid0 = "GPU-c09d11f5-a565-1f83-903c-a65a7ba138af";
constexpr const char* kUuid1 = "GPU-959873c5-b57b-5d24-f3aa-e700c5d431cb";

Request with(Variables variables) {
    variables["ALIYUN_COM_GPU_MEM_CONTAINER"] = "3";
    return request_in(variables);
}

using Names = std::vector<GpuName>;

TEST(RequestDevices, IndicesOrUuids) {
    const Names both = {model::Uuid::parse(kUuid0).value(), model::Uuid::parse(kUuid1).value()};
    EXPECT_EQ(with({{"ALIYUN_COM_GPU_VISIBLE_DEVICES", "0,1"}}).gpus, (Names{0U, 1U}));
    EXPECT_EQ(with({{"ALIYUN_COM_GPU_VISIBLE_DEVICES", std::string(kUuid0) + "," + kUuid1}}).gpus, both);
    EXPECT_EQ(with({{"CGPU_GPUS", "3, 1"}}).gpus, (Names{3U, 1U}));
}

TEST(RequestDevices, AsNvidiasProgramsTakeThem) {
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "0,1,"}}).gpus, (Names{0U, 1U}));
    EXPECT_EQ(with({{"CGPU_GPUS", " 0 , "}}).gpus, Names{0U});
    EXPECT_EQ(with({{"CGPU_GPUS", "GPU-C09d11f5"}}).gpus, Names{model::UuidPrefix{"GPU-c09d11f5"}});
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "00000000:3B:00.0"}}).gpus,
              (Names{model::PciAddress{0, 0x3b, 0}}));
}

TEST(RequestDevices, NvidiasVariableIsTheFallback) {
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "2"}}).gpus, Names{2U});
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "2"}, {"ALIYUN_COM_GPU_VISIBLE_DEVICES", "1"}}).gpus,
              Names{1U});
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "2"}, {"ALIYUN_COM_GPU_VISIBLE_DEVICES", ""}}).gpus,
              Names{2U});
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "all"}, {"CGPU_GPUS", "1"}}).gpus, Names{1U});
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "2"}, {"CGPU_GPUS", "all"}}).gpus, Names{});
}

TEST(RequestDevices, OnlyTheCallersOwnAllIsEveryGpu) {
    for (const char* all : {"all", " all ", "nvidia.com/gpu=all"}) {
        const Request request = with({{"CGPU_GPUS", all}, {"NVIDIA_VISIBLE_DEVICES", "all"}});
        EXPECT_TRUE(request.every_gpu) << all;
        EXPECT_TRUE(request.gpus.empty()) << all;
    }
    EXPECT_FALSE(with({{"NVIDIA_VISIBLE_DEVICES", "all"}}).every_gpu) << "images bring it";
    EXPECT_FALSE(with({{"ALIYUN_COM_GPU_VISIBLE_DEVICES", "all"}}).every_gpu) << "placement decides";
    EXPECT_FALSE(with({{"CGPU_GPUS", "none"}}).every_gpu);
    const Request counted = with({{"CGPU_GPUS", "all"}, {"aliyun.com/gpu-count", "2"}});
    EXPECT_FALSE(counted.every_gpu);
    EXPECT_EQ(counted.count, 2U);
}

TEST(RequestDevices, MemoryCannotBeDividedByAnUnknownNumber) {
    const auto read = parse_request({{"CGPU_GPUS", "all"}, {"aliyun.com/gpu-mem", "8"}});
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().text.find("by how many GPUs"), std::string::npos) << read.error().text;
}

TEST(RequestDevices, CdiNames) {
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "nvidia.com/gpu=2"}}).gpus, Names{2U});
    EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", "runtime.nvidia.com/gpu=1,nvidia.com/gpu=0"}}).gpus,
              (Names{1U, 0U}));
    EXPECT_EQ(with({{"CGPU_GPUS", "nvidia.com/gpu=" + std::string(kUuid1)}}).gpus,
              Names{model::Uuid::parse(kUuid1).value()});
    for (const char* all : {"nvidia.com/gpu=all", "runtime.nvidia.com/gpu=all"})
        EXPECT_TRUE(with({{"NVIDIA_VISIBLE_DEVICES", all}}).gpus.empty()) << all;
}

TEST(RequestDevices, AllOrNoneNamedIsForPlacementToDecide) {
    for (const char* nothing : {"all", "", "none", "void", "0,void", "none,1", "all,0", "0,all,",
                                "0, nvidia.com/gpu=all", "/var/run/nvidia-container-devices"}) {
        const Request request = with({{"NVIDIA_VISIBLE_DEVICES", nothing}});
        EXPECT_TRUE(request.gpus.empty()) << nothing;
        EXPECT_EQ(request.count, 1U);
    }
    EXPECT_TRUE(with({}).gpus.empty());
}

TEST(RequestDevices, BothOfOursMustAgree) {
    EXPECT_EQ(with({{"CGPU_GPUS", "0,1"}, {"ALIYUN_COM_GPU_VISIBLE_DEVICES", "0, 1"}}).gpus, (Names{0U, 1U}));
    refusal_in({{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}, {"ALIYUN_COM_GPU_VISIBLE_DEVICES", "1"}},
               "CGPU_GPUS=\"0\"");
}

TEST(RequestDevices, CommasWithoutANameBetweenThemAreOne) {
    for (const char* text : {"0,1,", ",0,1", "0,,1", ",,0, ,1,,"}) {
        EXPECT_EQ(with({{"NVIDIA_VISIBLE_DEVICES", text}}).gpus, (Names{0U, 1U})) << text;
        EXPECT_EQ(with({{"CGPU_GPUS", text}}).gpus, (Names{0U, 1U})) << text;
    }
}

TEST(RequestDevices, WhatNamesNoGpuIsRefused) {
    for (const char* text : {"x", ",", " , ,", "-1", "0:0", "GPU-123", "99999999999", "nvidia.com/gpu=",
                             "nvidia.com/gpu=0:1", "amd.com/gpu=0", "0,0", "0,nvidia.com/gpu=0"})
        refusal_in({{"CGPU_MEM", "1GiB"}, {"NVIDIA_VISIBLE_DEVICES", text}}, "NVIDIA_VISIBLE_DEVICES");
    for (const char* mig : {"MIG-c09d11f5-a565-1f83-903c-a65a7ba138af", "0:1", "nvidia.com/gpu=0:1",
                            "MIG-GPU-c09d11f5-a565-1f83-903c-a65a7ba138af/1/0", "1,0:0"}) {
        refusal_in({{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", mig}}, "MIG instances");
        refusal_in({{"CGPU_MEM", "1GiB"}, {"NVIDIA_VISIBLE_DEVICES", mig}}, "CGPU_DISABLE=1");
    }
    refusal_in({{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"}},
               "16 GPUs at most");
    EXPECT_TRUE(is_unmanaged({{"NVIDIA_VISIBLE_DEVICES", "0:0"}}));
}

}  // namespace
}  // namespace cgpu::request
