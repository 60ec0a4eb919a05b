#include <gtest/gtest.h>

#include "tests/unit/core/support/requests.hpp"

/// Which variables ask for which memory, line by line of the table in docs/requests.md.
namespace cgpu::request {
namespace {

using namespace cgpu::test;

TEST(RequestMemory, OneNumberIsForEveryGpu) {
    const Request request = request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"},
                                        {"ALIYUN_COM_GPU_MEM_DEV", "15"},
                                        {"NVIDIA_VISIBLE_DEVICES", "0,1,2,3"}});
    EXPECT_EQ(request.memory, shares({3}, 15));
    EXPECT_EQ(request.count, 4U);
    EXPECT_EQ(*request.memory_at(3), shares({3}, 15).front());
}

TEST(RequestMemory, AListGoesGpuByGpuAndTheLastRepeats) {
    const Variables four = {{"NVIDIA_VISIBLE_DEVICES", "0,1,2,3"}};
    Variables variables = four;
    variables["ALIYUN_COM_GPU_MEM_CONTAINER"] = "3,1";
    const Request repeated = request_in(variables);
    EXPECT_EQ(*repeated.memory_at(0), shares({3}).front());
    for (const std::size_t n : {1U, 2U, 3U}) EXPECT_EQ(*repeated.memory_at(n), shares({1}).front());
    variables["ALIYUN_COM_GPU_MEM_CONTAINER"] = " 3, 4 ,5,6 ";
    EXPECT_EQ(request_in(variables).memory, shares({3, 4, 5, 6}));
}

TEST(RequestMemory, AListWithoutNamesAsksForAsManyGpus) {
    EXPECT_EQ(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3,4"}}).count, 2U);
    EXPECT_EQ(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}, {"aliyun.com/gpu-count", "3"}}).count, 3U);
}

TEST(RequestMemory, AListLongerThanTheGpusIsRefused) {
    refusal_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3,4,5"}, {"NVIDIA_VISIBLE_DEVICES", "0,1"}}, "3 GPUs");
}

TEST(RequestMemory, AbsentOrZeroIsNotManaged) {
    EXPECT_TRUE(is_unmanaged({}));
    EXPECT_TRUE(is_unmanaged({{"NVIDIA_VISIBLE_DEVICES", "all"}, {"PATH", "/bin"}}));
    EXPECT_TRUE(is_unmanaged({{"ALIYUN_COM_GPU_MEM_CONTAINER", "0"}}));
    EXPECT_TRUE(is_unmanaged({{"ALIYUN_COM_GPU_MEM_CONTAINER", "1,0,0"}}));
    EXPECT_TRUE(is_unmanaged({{"CGPU_MEM", "0"}}));
    EXPECT_TRUE(is_unmanaged({{"CGPU_MEM", "4GiB,0MiB"}}));
    EXPECT_TRUE(is_unmanaged({{"volcano.sh/gpu-mem.128Mi", "0"}}));
    EXPECT_TRUE(is_unmanaged({{"ALIYUN_COM_GPU_MEM_DEV", "15"}, {"ALIYUN_COM_GPU_SCHD_WEIGHT", "3"}}));
}

TEST(RequestMemory, DisabledIsNotManagedWhateverElseIsSaid) {
    for (const char* yes : {"true", "1", "TRUE", "True"})
        EXPECT_TRUE(is_unmanaged({{"CGPU_DISABLE", yes}, {"ALIYUN_COM_GPU_MEM_CONTAINER", "x"}})) << yes;
    for (const char* no : {"false", "0", "False"})
        EXPECT_EQ(request_in({{"CGPU_DISABLE", no}, {"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}}).memory,
                  shares({3}))
            << no;
    refusal_in({{"CGPU_DISABLE", "maybe"}}, "CGPU_DISABLE=\"maybe\"");
}

TEST(RequestMemory, PresentAndEmptyWantsTheDefault) {
    EXPECT_TRUE(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}).memory.empty());
    EXPECT_TRUE(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "  "}}).memory.empty());
    EXPECT_EQ(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}, {"CGPU_MEM", "4GiB"}}).memory, sizes({4096}));
    EXPECT_TRUE(is_unmanaged({{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}, {"CGPU_MEM", "0"}}));
}

// A compose file's ${GPU_MEM} that isn't set must not give the whole card.
TEST(RequestMemory, AnEmptyVariableOfOursIsRefused) {
    for (const char* name :
         {"CGPU_DISABLE", "CGPU_MEM", "CGPU_COMPUTE", "CGPU_WEIGHT", "CGPU_GPUS", "CGPU_PRIO", "CGPU_MODE"})
        for (const char* blank : {"", " ", "\t", "\n", " \r\n"}) {
            for (Variables others : {Variables{}, Variables{{"CGPU_MEM", "4GiB"}},
                                     Variables{{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}},
                                     Variables{{"ALIYUN_COM_GPU_MEM_CONTAINER", "0"}}}) {
                others[name] = blank;
                const auto text = refusal_in(others, std::string(name) + "=\"\": it is empty");
                EXPECT_NE(text.find("CGPU_DISABLE=1"), std::string::npos) << text;
            }
            if (name != std::string_view("CGPU_DISABLE")) {
                EXPECT_TRUE(is_unmanaged({{name, blank}, {"CGPU_DISABLE", "1"}})) << name;
            }
        }
}

TEST(RequestMemory, AnEmptyVariableOfOthersCountsAsAbsent) {
    for (const char* name :
         {"ALIYUN_COM_GPU_MEM_DEV", "ALIYUN_COM_GPU_VISIBLE_DEVICES", "ALIYUN_COM_GPU_SCHD_WEIGHT",
          "ALIYUN_COM_GPU_HIGH_PRIO", "NVIDIA_VISIBLE_DEVICES"}) {
        EXPECT_EQ(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}, {name, " "}}),
                  request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}}))
            << name;
        EXPECT_TRUE(is_unmanaged({{name, ""}})) << name;
    }
}

// The open device plugin for Kubernetes can count in MiB.
TEST(RequestMemory, UnitsOfThePlugin) {
    const auto in_mib = [](std::uint64_t n, std::optional<std::uint64_t> dev) {
        return std::vector<MemoryAsk>{CardShare{n, dev, true}};
    };
    EXPECT_EQ(
        request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "4096"}, {"ALIYUN_COM_GPU_MEM_UNIT", "MiB"}}).memory,
        in_mib(4096, std::nullopt));
    EXPECT_EQ(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "4096"},
                          {"ALIYUN_COM_GPU_MEM_DEV", "16130"},
                          {"ALIYUN_COM_GPU_MEM_UNIT", "MiB"}})
                  .memory,
              in_mib(4096, 16130));
    for (const char* unit : {"GiB", ""})
        EXPECT_EQ(
            request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "4"}, {"ALIYUN_COM_GPU_MEM_UNIT", unit}}).memory,
            shares({4}));
    refusal_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "4"}, {"ALIYUN_COM_GPU_MEM_UNIT", "TiB"}},
               "ALIYUN_COM_GPU_MEM_UNIT=\"TiB\"");
    EXPECT_EQ(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "4096"},
                          {"ALIYUN_COM_GPU_MEM_UNIT", "MiB"},
                          {"CGPU_MEM", "4Gi"}})
                  .memory,
              sizes({4096}));
}

TEST(RequestMemory, ExactSizes) {
    EXPECT_EQ(request_in({{"CGPU_MEM", "5120MiB"}}).memory, sizes({5120}));
    EXPECT_EQ(request_in({{"CGPU_MEM", "4G"}}).memory, sizes({4096}));
    EXPECT_EQ(request_in({{"CGPU_MEM", "4GiB,512MiB"}, {"CGPU_GPUS", "0,1"}}).memory, sizes({4096, 512}));
    refusal_in({{"CGPU_MEM", "5120"}}, "the unit is missing");
    refusal_in({{"CGPU_MEM", "1500KiB"}}, "whole number of MiB");
    refusal_in({{"CGPU_MEM", "1GiB,"}}, "CGPU_MEM=\"1GiB,\"");
    refusal_in({{"CGPU_MEM", "9000TiB"}}, "no card has that much");
}

TEST(RequestMemory, HuaweisUnits) {
    const Request memory = request_in({{"volcano.sh/gpu-mem.128Mi", "40"}});
    EXPECT_EQ(memory.memory, sizes({5120}));
    EXPECT_EQ(memory.mode, model::Mode::memory);
    const Request both =
        request_in({{"volcano.sh/gpu-mem.128Mi", "40"}, {"volcano.sh/gpu-core.percentage", "25"}});
    EXPECT_EQ(both.percent, 25U);
    EXPECT_EQ(both.mode, model::Mode::memory_compute);
    EXPECT_EQ(request_in({{"volcano.sh/gpu-mem.128Mi", "40"}, {"CGPU_MODE", "none"}}).mode,
              model::Mode::none);
    EXPECT_EQ(request_in({{"volcano.sh/gpu-mem.128Mi", "40"}, {"CGPU_WEIGHT", "4"}}).mode, std::nullopt);
    refusal_in({{"volcano.sh/gpu-mem.128Mi", "-1"}}, "volcano.sh/gpu-mem.128Mi");
    refusal_in({{"volcano.sh/gpu-mem.128Mi", "5120MiB"}}, "volcano.sh/gpu-mem.128Mi");
}

TEST(RequestMemory, OverSeveralGpus) {
    const Request request = request_in(
        {{"aliyun.com/gpu-mem", "8"}, {"aliyun.com/gpu-count", "4"}, {"ALIYUN_COM_GPU_MEM_DEV", "15"}});
    EXPECT_EQ(request.memory, shares({2}, 15));
    EXPECT_EQ(request.count, 4U);
    EXPECT_EQ(request_in({{"aliyun.com/gpu-mem", "3"}}).memory, shares({3}));
    EXPECT_EQ(request_in({{"aliyun.com/gpu-mem", "8"}, {"NVIDIA_VISIBLE_DEVICES", "0,1"}}).memory,
              shares({4}));
    const auto odd =
        refusal_in({{"aliyun.com/gpu-mem", "7"}, {"aliyun.com/gpu-count", "4"}}, "aliyun.com/gpu-mem");
    EXPECT_NE(odd.find("Try: 4 or 8 (in GiB) for 4 GPUs."), std::string::npos) << odd;
    refusal_in({{"aliyun.com/gpu-mem", "8"}, {"aliyun.com/gpu-count", "0"}}, "aliyun.com/gpu-count");
    refusal_in({{"aliyun.com/gpu-mem", "8"}, {"aliyun.com/gpu-count", "17"}}, "aliyun.com/gpu-count");
    refusal_in(
        {{"aliyun.com/gpu-mem", "8"}, {"aliyun.com/gpu-count", "4"}, {"NVIDIA_VISIBLE_DEVICES", "0,1"}},
        "2 GPUs are named");
}

TEST(RequestMemory, TwoNamesForItMustAgree) {
    EXPECT_EQ(request_in({{"aliyun.com/gpu-mem", "8"},
                          {"aliyun.com/gpu-count", "4"},
                          {"ALIYUN_COM_GPU_MEM_CONTAINER", "2"},
                          {"ALIYUN_COM_GPU_MEM_DEV", "15"}})
                  .memory,
              shares({2}, 15));
    EXPECT_EQ(request_in({{"CGPU_MEM", "5120MiB"}, {"volcano.sh/gpu-mem.128Mi", "40"}}).memory,
              sizes({5120}));
    EXPECT_EQ(request_in({{"CGPU_MEM", "4GiB"}, {"ALIYUN_COM_GPU_MEM_CONTAINER", "4"}}).memory,
              sizes({4096}));
    refusal_in({{"CGPU_MEM", "4GiB"}, {"ALIYUN_COM_GPU_MEM_CONTAINER", "5"}},
               "they ask for different things");
    refusal_in({{"CGPU_MEM", "4GiB"}, {"ALIYUN_COM_GPU_MEM_CONTAINER", "0"}},
               "ALIYUN_COM_GPU_MEM_CONTAINER=\"0\"");
    refusal_in({{"CGPU_MEM", "4GiB"}, {"volcano.sh/gpu-mem.128Mi", "40"}}, "CGPU_MEM=\"4GiB\"");
}

TEST(RequestMemory, DevOnlyMattersWhereItIsUsed) {
    EXPECT_TRUE(is_unmanaged({{"ALIYUN_COM_GPU_MEM_CONTAINER", "0"}, {"ALIYUN_COM_GPU_MEM_DEV", "x"}}));
    refusal_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}, {"ALIYUN_COM_GPU_MEM_DEV", "x"}},
               "ALIYUN_COM_GPU_MEM_DEV");
    refusal_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}, {"ALIYUN_COM_GPU_MEM_DEV", "0"}},
               "ALIYUN_COM_GPU_MEM_DEV");
    for (const char* list : {"15,", "15,x", "15,0"})
        refusal_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}, {"ALIYUN_COM_GPU_MEM_DEV", list}},
                   "ALIYUN_COM_GPU_MEM_DEV");
    // The sizes of different cards, as a container on several GPUs sees them.
    const Request mixed =
        request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "4,6,2"}, {"ALIYUN_COM_GPU_MEM_DEV", "15,79"}});
    EXPECT_EQ(mixed.memory, (std::vector<MemoryAsk>{CardShare{4, 15}, CardShare{6, 79}, CardShare{2, 79}}));
    EXPECT_EQ(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "4"}, {"ALIYUN_COM_GPU_MEM_DEV", "15,79"}}).memory,
              (std::vector<MemoryAsk>{CardShare{4, 15}, CardShare{4, 79}}));
    EXPECT_EQ(request_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}, {"ALIYUN_COM_GPU_MEM_DEV", ""}}).memory,
              shares({3}));
}

}  // namespace
}  // namespace cgpu::request
