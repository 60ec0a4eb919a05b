#include "client/runtime/create.hpp"

#include <gtest/gtest.h>

#include "client/runtime/unmanaged.hpp"
#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using Kind = client::ClientError::Kind;
using Calls = std::vector<std::string>;

struct CreateTest : testing::Test {
    client::Result<bool> prepared(const std::string& config) {
        text = config;
        folder.file("/config.json", config);
        return prepare(creates_web(), "/usr/bin/cgpu-runtime", node);
    }
    [[nodiscard]] Invocation creates_web() const {
        Invocation invocation;
        invocation.command = "create";
        invocation.id = cgpuctl::kWebId;
        invocation.bundle = folder.path();
        return invocation;
    }
    [[nodiscard]] bool untouched() const {
        std::ifstream file(folder.at("/config.json"));
        return std::string(std::istreambuf_iterator<char>(file), {}) == text;
    }
    CreateTest() {
        node.grant = client::Created{{{cgpuctl::kUuid0, 0, 4301 * cgpuctl::kMib, 1, false}}, "/l", {}};
    }
    client::TempRoot folder;
    cgpuctl::FakeNode node;
    std::string text;
};

constexpr const char* kWebAsks = R"({"hostname":"web","process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=4",
    "ALIYUN_COM_GPU_MEM_DEV=15","HOME=/"]}})";

TEST_F(CreateTest, AGrantChangesTheBundle) {
    const auto managed = prepared(kWebAsks);
    ASSERT_TRUE(managed) << managed.error().text;
    EXPECT_TRUE(*managed);
    EXPECT_EQ(node.calls, (Calls{"create_instance " + std::string(cgpuctl::kWebId) + " web"}));
    EXPECT_FALSE(untouched());
    EXPECT_EQ(node.readings, 0) << "a start needs nothing of the other instances";
}

TEST_F(CreateTest, TheNodeIsToldTheImage) {
    folder.file(std::string("/docker/") + cgpuctl::kWebId + "/config.v2.json",
                R"({"Name":"/web","Config":{"Image":"train:1"}})");
    const auto managed =
        prepared(R"({"process":{"env":["CGPU_MEM=4GiB"]},"mounts":[{"destination":"/etc/hostname",
        "source":")" +
                 folder.at(std::string("/docker/") + cgpuctl::kWebId + "/hostname") + R"("}]})");
    ASSERT_TRUE(managed) << managed.error().text;
    EXPECT_EQ(node.calls, (Calls{"create_instance " + std::string(cgpuctl::kWebId) + " web of train:1"}));
}

TEST_F(CreateTest, BothHooksKnowTheLogThatTheEngineReads) {
    folder.file("/config.json", kWebAsks);
    Invocation invocation = creates_web();
    invocation.log = "/run/log.json";
    invocation.log_as_json = true;
    ASSERT_TRUE(prepare(invocation, "/usr/bin/cgpu-runtime", node));
    const auto bundle = OciBundle::read(folder.path());
    for (const char* stage : {"createRuntime", "createContainer"})
        EXPECT_EQ(bundle->config()["hooks"][stage][0]["args"].back(), "--json-log=/run/log.json") << stage;
}

TEST_F(CreateTest, TheDefaultMemoryOfANodeThatHasNoneIsNotManaged) {
    node.grant = client::Created{};
    const auto managed = prepared(R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER="]}})");
    ASSERT_TRUE(managed) << managed.error().text;
    EXPECT_FALSE(*managed);
    EXPECT_TRUE(untouched());
}

TEST_F(CreateTest, WhatAsksForNothingIsLeftAlone) {
    for (const char* config :
         {R"({})", R"({"process":{"env":["PATH=/bin","NVIDIA_VISIBLE_DEVICES=void"]}})",
          R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=0"]}})",
          R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=4","CGPU_DISABLE=true"]}})"}) {
        const auto managed = prepared(config);
        ASSERT_TRUE(managed) << config;
        EXPECT_FALSE(*managed) << config;
        EXPECT_TRUE(untouched()) << config;
    }
    EXPECT_TRUE(node.calls.empty());
}

/// As the engine writes it for --device nvidia.com/gpu=1.
constexpr const char* kHasADevice = R"({"hostname":"web","process":{"env":["NVIDIA_VISIBLE_DEVICES=void"]},
    "linux":{"devices":[{"path":"/dev/nvidia1","type":"c","major":195,"minor":1}]}})";

TEST_F(CreateTest, AContainerWithGpusAndWithoutARequestIsToldToTheNode) {
    folder.file("/config.json", kHasADevice);
    auto bundle = OciBundle::read(folder.path());
    ASSERT_TRUE(take_in_unmanaged(*bundle, creates_web(), "/x", node, "/missing"));
    const std::string call = "admit_unmanaged " + std::string(cgpuctl::kWebId) + " web ";
    ASSERT_EQ(node.calls.size(), 1U);
    EXPECT_TRUE(node.calls[0].starts_with(call)) << node.calls[0];
    const Json hook = OciBundle::read(folder.path())->config()["hooks"]["createRuntime"][0];
    EXPECT_EQ(hook["args"], Json({"cgpu-runtime", "hook", "attach", cgpuctl::kWebId, "if-possible"}));
    node.admitted = true;
    ASSERT_TRUE(take_in_unmanaged(*bundle, creates_web(), "/x", node, "/missing"));
    EXPECT_EQ(OciBundle::read(folder.path())->config()["hooks"]["createRuntime"][1]["args"].size(), 4U)
        << "without its process the booking would end";
    EXPECT_EQ(node.readings, 0) << "a start needs nothing of the instances";
}

TEST_F(CreateTest, ItStartsWithoutAnAnswerUnlessTheRuleIsAnother) {
    folder.file("/config.json", kHasADevice);
    auto bundle = OciBundle::read(folder.path());
    for (const Kind kind : {Kind::unreachable, Kind::not_authorized, Kind::failed}) {
        node.admitted = client::fail(kind, "no. Try: again.");
        EXPECT_TRUE(take_in_unmanaged(*bundle, creates_web(), "/x", node, folder.at("/missing")));
        EXPECT_FALSE(take_in_unmanaged(*bundle, creates_web(), "/x", node, folder.at("/config.json")));
    }
    node.admitted = client::fail(Kind::refused, "no. Try: again.");
    EXPECT_FALSE(take_in_unmanaged(*bundle, creates_web(), "/x", node, folder.at("/missing")));
    EXPECT_FALSE(bundle->config().contains("hooks"));
}

TEST_F(CreateTest, AnnotationsAskToo) {
    const auto managed = prepared(R"({"annotations":{"aliyun.com/gpu-mem":"4"}})");
    ASSERT_TRUE(managed) << managed.error().text;
    EXPECT_TRUE(*managed);
}

TEST_F(CreateTest, ABundleThatCannotBeReadIsRefusedWithoutAskingTheNode) {
    // Bytes that are not UTF-8, which other parsers accept.
    for (const char* config : {"no JSON", "[]", "{\"process\":{\"env\":[\"CGPU_MEM=4GiB\",\"A=\xff\"]}}"}) {
        EXPECT_FALSE(prepared(config)) << config;
        EXPECT_TRUE(untouched()) << config;
    }
    EXPECT_TRUE(node.calls.empty());
}

TEST_F(CreateTest, AValueThatCannotBeReadIsRefusedWithoutAskingTheNode) {
    const auto managed = prepared(R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=much"]}})");
    ASSERT_FALSE(managed);
    EXPECT_NE(managed.error().text.find("ALIYUN_COM_GPU_MEM_CONTAINER=\"much\""), std::string::npos);
    EXPECT_TRUE(node.calls.empty());
    EXPECT_TRUE(untouched());
}

TEST_F(CreateTest, TheDaemonsRefusalIsPassedOn) {
    node.snapshot.instances.clear();
    node.grant = client::fail(Kind::refused, "4GiB: no. Try: less.");
    const auto managed = prepared(kWebAsks);
    ASSERT_FALSE(managed);
    EXPECT_EQ(managed.error().text, "4GiB: no. Try: less.");
    EXPECT_EQ(node.calls.size(), 1U);
    EXPECT_TRUE(untouched());
}

TEST_F(CreateTest, WhatFailsAfterTheGrantGivesItBack) {
    const auto managed =
        prepared(R"({"process":{"env":["CGPU_MEM=4GiB","NVIDIA_DRIVER_CAPABILITIES=graphics"]}})");
    ASSERT_FALSE(managed);
    ASSERT_EQ(node.calls.size(), 2U);
    EXPECT_EQ(node.calls[1], "release_instance " + std::string(cgpuctl::kWebId));
    EXPECT_TRUE(untouched());
}

}  // namespace
}  // namespace cgpu::runtime
