#include "client/run/job/granted_environment.hpp"

#include <gtest/gtest.h>

#include "core/request/memory_share.hpp"

namespace cgpu::client {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

Gpu card(const std::string& uuid, std::uint64_t mib) {
    Gpu gpu;
    gpu.uuid = uuid;
    gpu.memory_total = mib * kMib;
    return gpu;
}

Quota quota(const std::string& uuid, std::uint64_t mib) { return {uuid, 0, mib * kMib, 1, false}; }

TEST(GrantedEnvironment, OneGpu) {
    EXPECT_EQ(granted_environment({quota("GPU-a", 4301)}, {card("GPU-a", 16130), card("GPU-b", 16130)}),
              (Variables{{"CUDA_VISIBLE_DEVICES", "GPU-a"},
                         {"NVIDIA_VISIBLE_DEVICES", "GPU-a"},
                         {"ALIYUN_COM_GPU_MEM_CONTAINER", "4"},
                         {"ALIYUN_COM_GPU_MEM_DEV", "15"}}));
}

TEST(GrantedEnvironment, TheOrderOfTheGrantIsKept) {
    const auto variables = granted_environment({quota("GPU-b", 3226), quota("GPU-a", 1075)},
                                               {card("GPU-a", 16130), card("GPU-b", 16130)});
    EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "GPU-b,GPU-a");
    EXPECT_EQ(variables.at("ALIYUN_COM_GPU_MEM_CONTAINER"), "3,1");
}

TEST(GrantedEnvironment, TheSameOnAllIsOneNumber) {
    const auto variables = granted_environment({quota("GPU-b", 3226), quota("GPU-a", 3226)},
                                               {card("GPU-a", 16130), card("GPU-b", 16130)});
    EXPECT_EQ(variables.at("ALIYUN_COM_GPU_MEM_CONTAINER"), "3");
}

TEST(GrantedEnvironment, EveryPartOfACardComesBack) {
    for (const std::uint64_t total : {15109U, 16130U, 81559U})
        for (std::uint64_t n = 1; n <= total / 1024; ++n) {
            const auto limit = request::memory_limit_mib(total, n, total / 1024);
            ASSERT_TRUE(limit);
            const auto variables = granted_environment({quota("GPU-a", *limit)}, {card("GPU-a", total)});
            EXPECT_EQ(variables.at("ALIYUN_COM_GPU_MEM_CONTAINER"), std::to_string(n)) << total;
        }
}

TEST(GrantedEnvironment, NeverMoreThanTheLimit) {
    EXPECT_EQ(granted_environment({quota("GPU-a", 5120)}, {card("GPU-a", 16130)})
                  .at("ALIYUN_COM_GPU_MEM_CONTAINER"),
              "4");
}

TEST(GrantedEnvironment, NoNumberWhereNoneFits) {
    EXPECT_FALSE(granted_environment({quota("GPU-a", 512)}, {card("GPU-a", 16130)})
                     .contains("ALIYUN_COM_GPU_MEM_CONTAINER"));
    EXPECT_FALSE(granted_environment({quota("GPU-a", 5120), quota("GPU-b", 512)},
                                     {card("GPU-a", 16130), card("GPU-b", 81559)})
                     .contains("ALIYUN_COM_GPU_MEM_DEV"));
    EXPECT_FALSE(granted_environment({quota("GPU-a", 5120), quota("GPU-x", 5120)}, {card("GPU-a", 16130)})
                     .contains("ALIYUN_COM_GPU_MEM_DEV"));
}

TEST(GrantedEnvironment, CardsOfDifferentSizesAreListedGpuByGpu) {
    const auto variables = granted_environment({quota("GPU-b", 4100), quota("GPU-a", 4301)},
                                               {card("GPU-a", 16130), card("GPU-b", 81559)});
    EXPECT_EQ(variables.at("ALIYUN_COM_GPU_MEM_CONTAINER"), "3,4");
    EXPECT_EQ(variables.at("ALIYUN_COM_GPU_MEM_DEV"), "79,15");
    // 4 of 15 on each, in other units; a shorter list would be for fewer GPUs.
    const auto alike = granted_environment({quota("GPU-a", 4301), quota("GPU-b", 4301)},
                                           {card("GPU-a", 16130), card("GPU-b", 15360)});
    EXPECT_EQ(alike.at("ALIYUN_COM_GPU_MEM_CONTAINER"), "4");
    const auto four = granted_environment({quota("GPU-a", 4301), quota("GPU-b", 4130)},
                                          {card("GPU-a", 16130), card("GPU-b", 81559)});
    EXPECT_EQ(four.at("ALIYUN_COM_GPU_MEM_CONTAINER"), "4,4");
    EXPECT_EQ(four.at("ALIYUN_COM_GPU_MEM_DEV"), "15,79");
}

}  // namespace
}  // namespace cgpu::client
