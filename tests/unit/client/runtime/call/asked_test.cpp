#include "client/runtime/call/asked.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

struct AskedTest : testing::Test {
    ~AskedTest() override {
        std::ifstream file(folder.at("/config.json"));
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text) << "the bundle was touched";
    }
    Result<bool> asked(const std::string& config, const std::string& command = "create") {
        text = config;
        folder.file("/config.json", config);
        Invocation invocation;
        invocation.command = command;
        invocation.id = "0123456789ab";
        invocation.bundle = folder.path();
        return needs_cgpud(invocation, [this] { return nvidia; });
    }
    bool nvidia = false;  ///< the next runtime is NVIDIA's
    client::TempRoot folder;
    std::string text;
};

constexpr const char* kAsks = R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=4","HOME=/"]}})";

TEST_F(AskedTest, ByVariablesAndByAnnotations) {
    EXPECT_TRUE(asked(kAsks).value());
    EXPECT_TRUE(asked(kAsks, "run").value());
    EXPECT_TRUE(asked(R"({"annotations":{"aliyun.com/gpu-mem":"4"}})").value());
}

TEST_F(AskedTest, ItsWaitIsBounded) {
    const auto with = [](const std::string& wait) {
        return R"({"process":{"env":["CGPU_MEM=4GiB","CGPU_WAIT=)" + wait + R"("]}})";
    };
    EXPECT_TRUE(asked(with("60s")).value());
    EXPECT_TRUE(asked(with("1m")).value());
    for (const char* wait : {"61s", "1h", "forever"}) {
        const auto refused = asked(with(wait));
        ASSERT_FALSE(refused) << wait;
        EXPECT_NE(refused.error().text.find("a container can wait for 60s at most"), std::string::npos)
            << refused.error().text;
    }
}

TEST_F(AskedTest, TwoOfCgpusCdiDevicesAreRefused) {
    const auto with = [](const std::string& devices) {
        return R"({"process":{"env":["CGPU_MEM=4GiB"]},"hooks":{"createRuntime":[)" + devices + "]}}";
    };
    const auto hook = [](const std::string& name) {
        return R"({"path":"/x","args":["cgpu-runtime","hook","cdi","attach",")" + name + "\"]}";
    };
    EXPECT_TRUE(asked(with(hook("0-half"))).value());
    EXPECT_TRUE(asked(with(hook("0-half") + "," + hook("0-half"))).value()) << "the same one twice";
    const auto two = asked(with(hook("0-half") + R"(,{"path":"/y"},)" + hook("half")));
    ASSERT_FALSE(two);
    EXPECT_TRUE(two.error().text.starts_with("cgpu.org/gpu=0-half and cgpu.org/gpu=half: "))
        << two.error().text;
}

TEST_F(AskedTest, ByANameThatOnlyLooksLikeOurs) {
    EXPECT_TRUE(asked(R"({"process":{"env":["CGPU_MEMORY=1GiB"]}})").value()) << "the daemon refuses it";
    EXPECT_FALSE(asked(R"({"process":{"env":["CGPU_MEMORY=1GiB","CGPU_DISABLE=1"]}})").value());
}

TEST_F(AskedTest, NotByWhatSaysNothingOrNo) {
    for (const char* config :
         {R"({})", R"({"process":{"env":["PATH=/bin","NVIDIA_VISIBLE_DEVICES=all"]}})",
          R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=0"]}})",
          R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=4","CGPU_DISABLE=true"]}})"})
        EXPECT_FALSE(asked(config).value()) << config;
}

TEST_F(AskedTest, AContainerThatGetsGpusWithoutARequestIsToldToCgpud) {
    const std::vector<std::string> by_next = {
        R"({"process":{"env":["NVIDIA_VISIBLE_DEVICES=all"]}})",
        R"({"process":{"env":["NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=0"]}})",
        R"({"annotations":{"cdi.k8s.io/x":"nvidia.com/gpu=0"}})"};
    for (const auto& config : by_next) EXPECT_FALSE(asked(config).value()) << config;
    nvidia = true;
    for (const auto& config : by_next) EXPECT_TRUE(asked(config).value()) << config;
    EXPECT_FALSE(asked(R"({"process":{"env":["NVIDIA_VISIBLE_DEVICES=void"]}})").value());
    EXPECT_FALSE(asked(R"({"process":{"env":["NVIDIA_VISIBLE_DEVICES="]}})").value());
    // Otherwise a variable of the user's would pass what the administrator refuses.
    for (const char* declines :
         {"CGPU_DISABLE=1", "CGPU_MEM=0", "ALIYUN_COM_GPU_MEM_CONTAINER=1,0", "aliyun.com/gpu-mem=0"})
        EXPECT_TRUE(
            asked(R"({"process":{"env":["NVIDIA_VISIBLE_DEVICES=all",")" + std::string(declines) + R"("]}})")
                .value())
            << declines;
}

TEST_F(AskedTest, SoIsOneThatGetsThemWhateverTheNextRuntimeIs) {
    // docker run --gpus
    EXPECT_TRUE(asked(R"({"process":{"env":["NVIDIA_VISIBLE_DEVICES=0"]},"hooks":{"prestart":[
        {"path":"/usr/bin/nvidia-container-runtime-hook","args":["x","prestart"]}]}})")
                    .value());
    EXPECT_TRUE(
        asked(R"({"linux":{"devices":[{"path":"/dev/nvidia0","type":"c","major":195,"minor":0}]}})").value());
    EXPECT_TRUE(asked(R"({"process":{"env":["CGPU_DISABLE=1"]},"linux":{"devices":[
        {"path":"/dev/nvidia0","type":"c","major":195,"minor":0}]}})")
                    .value());
}

TEST_F(AskedTest, OnlyByCallsThatMakeContainers) {
    for (const char* command : {"start", "state", "kill", "delete", ""})
        EXPECT_FALSE(asked("no JSON", command).value()) << command;
}

TEST_F(AskedTest, ABundleThatIsNotThereIsTheNextRuntimesMatter) {
    Invocation invocation;
    invocation.command = "create";
    invocation.bundle = folder.at("/missing");
    EXPECT_FALSE(needs_cgpud(invocation, [] { return true; }).value());
}

TEST_F(AskedTest, WhatCannotBeReadIsRefused) {
    // Bytes that are not UTF-8, which other parsers accept.
    for (const char* config : {"no JSON", "[]", "{\"process\":{\"env\":[\"CGPU_MEM=4GiB\",\"A=\xff\"]}}"})
        EXPECT_FALSE(asked(config)) << config;
    const auto much = asked(R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=much"]}})");
    ASSERT_FALSE(much);
    EXPECT_NE(much.error().text.find("ALIYUN_COM_GPU_MEM_CONTAINER=\"much\""), std::string::npos);
}

}  // namespace
}  // namespace cgpu::runtime
