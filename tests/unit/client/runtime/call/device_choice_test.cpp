#include "client/runtime/call/device_choice.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

/// On a node with three GPUs, whose device nodes the driver numbers the other way round.
namespace cgpu::runtime {
namespace {

using cgpuctl::kUuid0;
using cgpuctl::kUuid1;
constexpr const char* kUuid2 = "GPU-22222222-2222-2222-2222-222222222222";

struct DeviceChoiceTest : testing::Test {
    DeviceChoiceTest() {
        gpus.push_back(gpus.back());
        gpus.back().uuid = kUuid2;
        gpus.back().index = 2;
    }
    /// What NVIDIA_VISIBLE_DEVICES is then, or the refusal.
    std::string chosen(Variables variables, const std::string& config) {
        folder.file("/config.json", config);
        const auto bundle = OciBundle::read(folder.path());
        const auto done = choose_by_devices(variables, bundle.value(), gpus,
                                            GpuMinors{{2, kUuid0}, {1, kUuid1}, {0, kUuid2}});
        if (!done) return done.error().text;
        left = variables;
        const auto found = variables.find("NVIDIA_VISIBLE_DEVICES");
        return found == variables.end() ? "" : found->second;
    }
    static std::string node(int minor) {
        return R"({"path":"/dev/x","type":"c","major":195,"minor":)" + std::to_string(minor) + "}";
    }
    static std::string nodes(const std::string& list) { return R"({"linux":{"devices":[)" + list + "]}}"; }
    static std::string cdi(const std::string& names) {
        return R"({"annotations":{"cdi.k8s.io/g":")" + names + R"("}})";
    }
    std::vector<client::Gpu> gpus = cgpuctl::two_gpus().gpus;
    Variables left;
    client::TempRoot folder;
};

TEST_F(DeviceChoiceTest, DeviceNodesAreTheChoice) {
    EXPECT_EQ(chosen({}, nodes(node(2))), kUuid0);
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "void"}}, nodes(node(0) + "," + node(1))),
              std::string(kUuid2) + "," + kUuid1);
    EXPECT_EQ(chosen({{"CGPU_GPUS", "all"}}, nodes(node(1) + "," + node(255))), kUuid1);
    EXPECT_FALSE(left.contains("CGPU_GPUS"));
}

TEST_F(DeviceChoiceTest, NvidiasVolumesAreTheChoice) {
    const auto volumes = [](const std::vector<std::string>& names) {
        std::string list;
        for (const auto& name : names) {
            if (!list.empty()) list += ",";
            list +=
                R"({"destination":"/var/run/nvidia-container-devices/)" + name + R"(","source":"/dev/null"})";
        }
        return R"({"mounts":[)" + list + "]}";
    };
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "/var/run/nvidia-container-devices"}}, volumes({"1"})),
              kUuid1);
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "all"}}, volumes({kUuid2, "cdi/nvidia.com/gpu/0"})),
              std::string(kUuid2) + "," + kUuid0);
    EXPECT_EQ(chosen({}, volumes({"all"})), "");
    EXPECT_NE(chosen({}, volumes({"9"})).find("is no GPU of this node"), std::string::npos);
    // They name the granted GPUs then, whatever they named.
    EXPECT_EQ(chosen({{"CGPU_GPUS", "0"}}, volumes({"1"})), "");
    EXPECT_EQ(left.at("CGPU_GPUS"), "0");
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "0"}}, volumes({"1"})), "0");
}

TEST_F(DeviceChoiceTest, AListWithAllIsAll) {
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "all,0"}}, nodes(node(1))), kUuid1);
}

TEST_F(DeviceChoiceTest, WhatTheVariableNamesByAPrefixOrAPciAddressIsNotReplaced) {
    const std::string prefix = std::string(kUuid2).substr(0, 12);
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", prefix + ","}}, nodes(node(0))), prefix + ",");
    EXPECT_NE(
        chosen({{"NVIDIA_VISIBLE_DEVICES", prefix}}, nodes(node(1))).find("they ask for different GPUs"),
        std::string::npos);
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "3b:00.0"}}, nodes(node(1))), "3b:00.0")
        << "only cgpud knows which GPU that is";
}

TEST_F(DeviceChoiceTest, CdiAnnotationsAre) {
    EXPECT_EQ(chosen({}, cdi("nvidia.com/gpu=1")), kUuid1);
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "all"}}, cdi("nvidia.com/gpu=" + std::string(kUuid2))),
              kUuid2);
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "all"}}, cdi("nvidia.com/gpu=all")), "all");
}

TEST_F(DeviceChoiceTest, AllOfTheNodesAreForPlacementToDecide) {
    const std::string all = nodes(node(0) + "," + node(1) + "," + node(2));
    EXPECT_EQ(chosen({}, all), "");
    EXPECT_EQ(chosen({{"CGPU_GPUS", "0"}}, all), "");
    EXPECT_EQ(left.at("CGPU_GPUS"), "0");
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "1"}}, all), "1");
}

TEST_F(DeviceChoiceTest, VariablesThatNameTheSameStay) {
    EXPECT_EQ(chosen({{"CGPU_GPUS", "0"}}, nodes(node(2))), "");
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "nvidia.com/gpu=0"}}, nodes(node(2))), "nvidia.com/gpu=0");
    EXPECT_EQ(chosen({{"NVIDIA_VISIBLE_DEVICES", "1"}}, "{}"), "1");
}

TEST_F(DeviceChoiceTest, ContradictionsAreRefusedWithBothNamed) {
    EXPECT_TRUE(
        chosen({{"CGPU_GPUS", "0"}}, nodes(node(1)))
            .starts_with("CGPU_GPUS=\"0\" and the device /dev/nvidia1: they ask for different GPUs. Try: "))
        << chosen({{"CGPU_GPUS", "0"}}, nodes(node(1)));
    EXPECT_TRUE(chosen({{"NVIDIA_VISIBLE_DEVICES", "0"}}, cdi("nvidia.com/gpu=1"))
                    .starts_with("NVIDIA_VISIBLE_DEVICES=\"0\" and cdi.k8s.io/g=\"nvidia.com/gpu=1\": "));
    EXPECT_TRUE(chosen({{"CGPU_GPUS", "0"}}, nodes(node(2) + "," + node(1)))
                    .starts_with("CGPU_GPUS=\"0\" and the device /dev/nvidia1, /dev/nvidia2: "));
}

TEST_F(DeviceChoiceTest, WhatIsNoGpuOfTheNodeIsRefused) {
    EXPECT_TRUE(
        chosen({}, nodes(node(7))).starts_with("the container's devices: \"/dev/nvidia7\" is no GPU"));
    EXPECT_TRUE(
        chosen({}, cdi("nvidia.com/gpu=9")).starts_with("cdi.k8s.io/g=\"nvidia.com/gpu=9\": \"9\" is no"));
    EXPECT_TRUE(chosen({}, cdi("nvidia.com/gpu=0:1")).find(" Try: ") != std::string::npos);
}

/// Its GPUs come while it looks again, as those of a driver that has just been loaded.
struct LateNode : cgpuctl::FakeNode {
    client::Result<std::string> find_gpu(const std::string& gpu) override {
        asked.push_back(gpu);
        for (client::Gpu& each : snapshot.gpus) each.present = true;
        return FakeNode::find_gpu(gpu);
    }
    std::vector<std::string> asked;
};

TEST(GpusAgain, TheNodeLooksForThoseThatItDoesntSee) {
    LateNode node;
    node.snapshot = cgpuctl::two_gpus();
    node.snapshot.gpus[1].present = false;
    const auto before = node.snapshot.gpus;
    const auto now = read_gpus_again(node, before);
    ASSERT_TRUE(now);
    EXPECT_EQ(node.asked, std::vector<std::string>{"1"});
    EXPECT_TRUE(now->at(1).present);
    ASSERT_TRUE(read_gpus_again(node, *now));
    EXPECT_EQ(node.asked.back(), "2") << "one may have been added";
    const std::vector<client::Quota> granted = {{kUuid1, 1, 0, 1, false}};
    EXPECT_TRUE(knows_all(*now, granted));
    EXPECT_FALSE(knows_all(before, granted));
    EXPECT_FALSE(knows_all({}, granted));
}

}  // namespace
}  // namespace cgpu::runtime
