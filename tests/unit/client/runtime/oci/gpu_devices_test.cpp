#include "client/runtime/oci/gpu_devices.hpp"

#include <gtest/gtest.h>

#include "client/runtime/oci/cdi_annotations.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using Minors = std::vector<std::uint32_t>;

struct GpuDevicesTest : testing::Test {
    OciBundle bundle(const std::string& config) {
        folder.file("/config.json", config);
        return OciBundle::read(folder.path()).value();
    }
    client::TempRoot folder;
};

/// As Docker 28 writes it for `--device nvidia.com/gpu=all` on a node with two GPUs.
constexpr const char* kTwo = R"({"linux":{"devices":[
    {"path":"/dev/nvidia0","type":"c","major":195,"minor":0,"fileMode":438},
    {"path":"/dev/nvidia1","type":"c","major":195,"minor":1,"fileMode":438},
    {"path":"/dev/nvidiactl","type":"c","major":195,"minor":255},
    {"path":"/dev/nvidia-uvm","type":"c","major":511,"minor":0},
    {"path":"/dev/sda","type":"b","major":195,"minor":1}],
  "resources":{"devices":[{"allow":false,"access":"rwm"},
    {"allow":true,"type":"c","major":195,"minor":0,"access":"rwm"},
    {"allow":true,"type":"c","major":195,"minor":1,"access":"rwm"},
    {"allow":true,"type":"c","major":195,"minor":255,"access":"rwm"},
    {"allow":true,"type":"c","major":511,"minor":0,"access":"rwm"}]}}})";

TEST_F(GpuDevicesTest, AreThoseOfNvidiasMajorNumber) {
    EXPECT_EQ(gpu_devices(bundle(kTwo)), (Minors{0, 1}));
    EXPECT_TRUE(gpu_devices(bundle("{}")).empty());
    EXPECT_TRUE(gpu_devices(bundle(R"({"linux":{"devices":[7,{"path":"/dev/nvidia0"}]}})")).empty());
}

TEST_F(GpuDevicesTest, AreMountedByEnginesWithoutRoot) {
    EXPECT_EQ(gpu_devices(bundle(R"({"mounts":[{"destination":"/dev/nvidia1","source":"/dev/nvidia1"},
        {"destination":"/dev/nvidiactl","source":"/dev/nvidiactl"},
        {"destination":"/dev/nvidia-uvm","source":"/dev/nvidia-uvm"}, {"destination":"/tmp"}]})")),
              Minors{1});
}

TEST_F(GpuDevicesTest, OthersAreTakenOutWithTheirRules) {
    auto two = bundle(kTwo);
    EXPECT_TRUE(keep_gpu_devices(two, {1}));
    EXPECT_EQ(gpu_devices(two), Minors{1});
    EXPECT_EQ(two.config()["linux"]["devices"].size(), 4U) << "control devices and other kinds stay";
    const Json rules = two.config()["linux"]["resources"]["devices"];
    ASSERT_EQ(rules.size(), 4U);
    EXPECT_EQ(rules[0]["allow"], false);
    EXPECT_EQ(rules[1]["minor"], 1);
    EXPECT_EQ(rules[2]["minor"], 255);
    EXPECT_EQ(rules[3]["major"], 511);
    EXPECT_FALSE(keep_gpu_devices(two, {1}));
    auto mounted =
        bundle(R"({"mounts":[{"source":"/dev/nvidia0"},{"source":"/dev/nvidia1"},{"source":"/x"}]})");
    EXPECT_TRUE(keep_gpu_devices(mounted, {0}));
    EXPECT_EQ(mounted.config()["mounts"].size(), 2U);
}

TEST_F(GpuDevicesTest, ARuleForAllGpusBecomesOneForEach) {
    for (const char* minor : {"", R"(,"minor":-1)"}) {
        auto all = bundle(R"({"linux":{"resources":{"devices":[{"allow":true,"type":"c","major":195)" +
                          std::string(minor) + R"(,"access":"rwm"}]}}})");
        EXPECT_TRUE(keep_gpu_devices(all, {1}));
        const Json rules = all.config()["linux"]["resources"]["devices"];
        ASSERT_EQ(rules.size(), 3U) << minor;
        EXPECT_EQ(rules[0]["minor"], 1);
        EXPECT_EQ(rules[0]["access"], "rwm");
        EXPECT_EQ(rules[1]["minor"], 254);
        EXPECT_EQ(rules[2]["minor"], 255);
    }
}

TEST_F(GpuDevicesTest, WhatIsNoGpuIsLeftAlone) {
    for (const char* config :
         {"{}", R"({"linux":7,"mounts":{}})",
          R"({"linux":{"resources":{"devices":[{"allow":true,"access":"rwm"}]}}})",
          R"({"linux":{"resources":{"devices":[{"allow":false,"type":"c","major":195,"minor":1}, 3]}}})"}) {
        auto plain = bundle(config);
        EXPECT_FALSE(keep_gpu_devices(plain, {})) << config;
        EXPECT_EQ(plain.config(), Json::parse(config)) << config;
    }
}

TEST_F(GpuDevicesTest, CdiAnnotationsNameGpusToo) {
    auto named = bundle(R"({"annotations":{"cdi.k8s.io/gpus":"nvidia.com/gpu=1, amd.com/gpu=0",
        "cdi.k8s.io/x":"runtime.nvidia.com/gpu=all","cdi.k8s.io/y":"amd.com/gpu=0","other":"nvidia.com/gpu=0"}})");
    const auto found = cdi_annotations(named);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].gpus, std::vector<std::string>{"1"});
    EXPECT_EQ(found[1].gpus, std::vector<std::string>{"all"});
    remove_cdi_gpus(named);
    EXPECT_TRUE(cdi_annotations(named).empty());
    EXPECT_EQ(named.annotations(), (Variables{{"cdi.k8s.io/gpus", "amd.com/gpu=0"},
                                              {"cdi.k8s.io/y", "amd.com/gpu=0"},
                                              {"other", "nvidia.com/gpu=0"}}));
}

}  // namespace
}  // namespace cgpu::runtime
