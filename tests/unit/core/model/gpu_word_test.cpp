#include "core/model/gpu_word.hpp"

#include <gtest/gtest.h>

namespace cgpu::model {
namespace {

constexpr const char* kUuid = "GPU-c09d11f5-a565-1f83-903c-a65a7ba138af";

std::vector<Gpu> three() {
    std::vector<Gpu> gpus(3);
    gpus[0].uuid = *Uuid::parse(kUuid);
    gpus[1].uuid = *Uuid::parse("GPU-c09d11f5-b565-1f83-903c-a65a7ba138af");
    gpus[2].uuid = *Uuid::parse("GPU-959873c5-b57b-5d24-f3aa-e700c5d431cb");
    for (std::uint32_t i = 0; i < gpus.size(); ++i) {
        gpus[i].index = i;
        gpus[i].pci = PciAddress{0, 0x3b + i, 0};
    }
    return gpus;
}

/// The indices of the GPUs that a text means.
std::vector<std::uint32_t> meant(std::string_view text, const std::vector<Gpu>& gpus = three()) {
    const auto word = parse_gpu_word(text);
    std::vector<std::uint32_t> indices;
    if (!word) return {99};
    for (const Gpu* gpu : gpus_meant(*word, gpus)) indices.push_back(gpu->index);
    return indices;
}

using Indices = std::vector<std::uint32_t>;

TEST(GpuWord, EachWayToNameAGpu) {
    EXPECT_EQ(meant("1"), Indices{1});
    EXPECT_EQ(meant(kUuid), Indices{0});
    EXPECT_EQ(meant("GPU-C09D11F5-A565-1F83-903C-A65A7BA138AF"), Indices{0});
    EXPECT_EQ(meant("GPU-959873c5"), Indices{2});
    EXPECT_EQ(meant("gpu-959873c5"), Indices{2});
    EXPECT_EQ(meant("GPU-959873C5-b"), Indices{2});
    EXPECT_EQ(meant("GPU-c09d11f5-a565"), Indices{0});
    for (const char* address : {"00000000:3C:00.0", "0000:3c:00.0", "0000:3c:00", "3c:00.0", "3C:0.0"})
        EXPECT_EQ(meant(address), Indices{1}) << address;
    EXPECT_EQ(to_string(*parse_gpu_word("3c:00.0")), "00000000:3C:00.0");
}

TEST(GpuWord, WhatMeansSeveralOrNone) {
    EXPECT_EQ(meant("GPU-c09d11f5"), (Indices{0, 1}));
    EXPECT_EQ(meant("GPU-00000000"), Indices{});
    EXPECT_EQ(meant("3f:00.0"), Indices{});
    EXPECT_EQ(meant("3"), Indices{});
    auto gpus = three();
    gpus[1].present = false;
    EXPECT_EQ(meant("GPU-c09d11f5", gpus), Indices{0});
    EXPECT_EQ(meant("0000:3c:00.0", gpus), Indices{});
    for (const char* word : {"1", "0000:3c:00.0", "GPU-c09d11f5-b565"})
        EXPECT_EQ(lost_gpu_meant(*parse_gpu_word(word), gpus), &gpus[1]) << word;
    EXPECT_EQ(lost_gpu_meant(*parse_gpu_word("GPU-c09d11f5"), gpus), nullptr) << "one of them is there";
    gpus[2].index = 1;
    EXPECT_EQ(lost_gpu_meant(*parse_gpu_word("1"), gpus), nullptr) << "another one has its index";
    gpus[1].obstacle = "NVML says: GPU is lost";
    EXPECT_EQ(why_lost(gpus[1]), "the driver no longer sees it (NVML says: GPU is lost)");
}

TEST(GpuWord, NoOtherTextNamesOne) {
    for (const char* text : {"",
                             "x",
                             "-1",
                             "0x0",
                             "0 ",
                             "4294967296",
                             "GPU-",
                             "GPU-c09d11f",
                             "GPU-c09d11fx",
                             "GPU-c09d11f5a",
                             "GPU-c09d11f5-a565-1f83-903c-a65a7ba138af0",
                             "c09d11f5",
                             "MIG-c09d11f5",
                             "0:1",
                             "3b:00",
                             ":00.0",
                             ".0",
                             "3b:00.1",
                             "0000:3b:00.",
                             "3b:.0",
                             "g0:00.0",
                             "1:0000:3b:00.0",
                             "123456789:3b:00.0",
                             "000:100:00.0"})
        EXPECT_EQ(parse_gpu_word(text), std::nullopt) << text;
}

}  // namespace
}  // namespace cgpu::model
