#include "client/runtime/oci/edit_bundle.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using cgpuctl::kMib;
using cgpuctl::kUuid0;

std::string allowed(const std::string& asked) {
    const auto capabilities = allowed_capabilities(&asked);
    return capabilities ? *capabilities : capabilities.error().text;
}

TEST(Capabilities, RenderingIsTakenOut) {
    EXPECT_EQ(*allowed_capabilities(nullptr), "compute,utility");
    EXPECT_EQ(allowed(""), "compute,utility");
    EXPECT_EQ(allowed("all"), "compute,utility,video");
    EXPECT_EQ(allowed("compute,utility"), "compute,utility");
    EXPECT_EQ(allowed("utility"), "compute,utility");
    EXPECT_EQ(allowed("graphics, compute,video,compat32"), "compute,utility,video");
    EXPECT_EQ(allowed("compute,all"), "compute,utility,video") << "all among others brings graphics, too";
    EXPECT_EQ(allowed("all,graphics"), "compute,utility,video");
    EXPECT_EQ(allowed("compute,"), "compute,utility");
}

TEST(Capabilities, WhatNvidiaDoesNotKnowIsRefusedByName) {
    EXPECT_TRUE(allowed("compute,utilty")
                    .starts_with("NVIDIA_DRIVER_CAPABILITIES=\"compute,utilty\": \"utilty\" is none of "
                                 "NVIDIA's capabilities. Try: "))
        << allowed("compute,utilty");
}

TEST(Capabilities, NothingButRenderingIsRefused) {
    EXPECT_TRUE(allowed("graphics").starts_with("NVIDIA_DRIVER_CAPABILITIES=\"graphics\": "))
        << allowed("graphics");
    EXPECT_NE(allowed("display,graphics").find(" Try: "), std::string::npos);
}

struct EditTest : testing::Test {
    Json edited(const std::string& config, const std::string& bus_address = "unix:path=/bus") {
        folder.file("/config.json", config);
        auto bundle = OciBundle::read(folder.path());
        EXPECT_TRUE(bundle);
        const client::Created created{{{kUuid0, 0, 4301 * kMib, 2, false}}, "/run/cgpu/instances/x", {}};
        EXPECT_TRUE(edit_bundle(
            *bundle, {"0123", "/usr/bin/cgpu-runtime", bus_address, created, cgpuctl::two_gpus().gpus}));
        EXPECT_TRUE(bundle->write());
        std::ifstream file(folder.at("/config.json"));
        return Json::parse(file);
    }
    client::TempRoot folder;
};

TEST_F(EditTest, HooksOfCgpusCdiDevicesAreReplaced) {
    const Json config = edited(R"({"hooks":{
        "createRuntime":[{"path":"/x","args":["cgpu-runtime","hook","cdi","attach","half"]},{"path":"/other"}],
        "createContainer":[{"path":"/x","args":["cgpu-runtime","hook","cdi","mount","half","/i"]}]}})");
    ASSERT_EQ(config["hooks"]["createRuntime"].size(), 2U);
    EXPECT_EQ(config["hooks"]["createRuntime"][0]["path"], "/other");
    EXPECT_EQ(config["hooks"]["createRuntime"][1]["args"][2], "attach");
    ASSERT_EQ(config["hooks"]["createContainer"].size(), 1U);
    EXPECT_EQ(config["hooks"]["createContainer"][0]["args"][2], "mount");
}

TEST_F(EditTest, AReadOnlyRootGetsThePlaceForTheMounts) {
    const Json config = edited(R"({"root":{"path":"/r","readonly":true},"mounts":[{"destination":"/run"}]})");
    ASSERT_EQ(config["mounts"].size(), 2U);
    EXPECT_EQ(config["mounts"][1]["destination"], "/run/cgpu");
    EXPECT_EQ(config["mounts"][1]["type"], "tmpfs");
    EXPECT_EQ(edited(R"({"root":{"path":"/r","readonly":true}})")["mounts"].size(), 1U);
    EXPECT_FALSE(edited(R"({"root":{"path":"/r","readonly":false}})").contains("mounts"));
    EXPECT_FALSE(edited(R"({"root":{"path":"/r"}})").contains("mounts"));
}

TEST_F(EditTest, TheEnvironmentSaysWhatWasGranted) {
    const Json config = edited(
        R"({"process":{"env":["ALIYUN_COM_GPU_MEM_CONTAINER=4,4","ALIYUN_COM_GPU_MEM_UNIT=GiB","NVIDIA_VISIBLE_DEVICES=all",
        "NVIDIA_DRIVER_CAPABILITIES=all","PATH=/bin"]},"root":{"path":"/r"}})");
    auto env = config["process"]["env"].get<std::vector<std::string>>();
    std::sort(env.begin(), env.end());
    const std::string uuid = kUuid0;
    EXPECT_EQ(env, (std::vector<std::string>{"ALIYUN_COM_GPU_MEM_CONTAINER=4", "ALIYUN_COM_GPU_MEM_DEV=15",
                                             "CUDA_VISIBLE_DEVICES=" + uuid,
                                             "NVIDIA_DRIVER_CAPABILITIES=compute,utility,video",
                                             "NVIDIA_VISIBLE_DEVICES=" + uuid, "PATH=/bin"}));
}

TEST_F(EditTest, AnImagesOwnNumberingOfItsGpusStays) {
    const Json config = edited(R"({"process":{"env":["CUDA_VISIBLE_DEVICES=0"]}})");
    const auto env = config["process"]["env"].get<std::vector<std::string>>();
    EXPECT_EQ(std::count(env.begin(), env.end(), "CUDA_VISIBLE_DEVICES=0"), 1);
    EXPECT_EQ(std::count_if(env.begin(), env.end(),
                            [](const std::string& entry) { return entry.starts_with("CUDA_VISIBLE"); }),
              1);
}

TEST_F(EditTest, ThreeHooksComeAfterThoseThatAreThere) {
    const Json config = edited(R"({"root":{"path":"/r"},"hooks":{"createContainer":[{"path":"/nvidia"}]}})");
    const Json& hooks = config["hooks"];
    ASSERT_EQ(hooks["createContainer"].size(), 2U);
    EXPECT_EQ(hooks["createContainer"][1],
              Json::parse(R"({"path":"/usr/bin/cgpu-runtime","args":["cgpu-runtime","hook","mount",
                  "/run/cgpu/instances/x","/r","",""],"timeout":30,
                  "env":["PATH=/usr/sbin:/usr/bin:/sbin:/bin","DBUS_SYSTEM_BUS_ADDRESS=unix:path=/bus"]})"));
    EXPECT_EQ(hooks["createRuntime"][0]["args"], Json({"cgpu-runtime", "hook", "attach", "0123"}));
    EXPECT_EQ(hooks.size(), 2U);
}

TEST_F(EditTest, AHookNeverHasTheEnvironmentOfTheImage) {
    const Json config = edited(R"({"process":{"env":["LD_PRELOAD=/evil.so"]},"root":{"path":"/r"}})", "");
    const Json own = Json::array({"PATH=/usr/sbin:/usr/bin:/sbin:/bin"});
    EXPECT_EQ(config["hooks"]["createContainer"][0]["env"], own);
    EXPECT_EQ(config["hooks"]["createRuntime"][0]["env"], own);
}

TEST_F(EditTest, TheMountHookIsToldWhereTheImageLooksForLibraries) {
    const Json config =
        edited(R"({"process":{"env":["LD_LIBRARY_PATH=/a:/b","CONDA_PREFIX=/c"]},"root":{"path":"/r"}})");
    EXPECT_EQ(config["hooks"]["createContainer"][0]["args"][5], "/a:/b");
    EXPECT_EQ(config["hooks"]["createContainer"][0]["args"][6], "/c");
}

}  // namespace
}  // namespace cgpu::runtime
