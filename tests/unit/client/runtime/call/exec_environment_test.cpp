#include "client/runtime/call/exec_environment.hpp"

#include <gtest/gtest.h>

#include "client/runtime/oci/oci_bundle.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using Env = std::vector<std::string>;

struct ExecEnvironmentTest : testing::Test {
    ExecEnvironmentTest() {
        root.file("/bundle/config.json",
                  R"({"process":{"env":["A=of the container","NVIDIA_VISIBLE_DEVICES=GPU-1",
            "CUDA_VISIBLE_DEVICES=GPU-1","ALIYUN_COM_GPU_MEM_CONTAINER=4","ALIYUN_COM_GPU_MEM_DEV=15"]},
            "hooks":{"createContainer":[{"path":"/x","args":["cgpu-runtime","hook","mount","l","r"]}]}})");
        root.file("/runc/one/state.json",
                  R"({"config":{"labels":["a=b","bundle=)" + root.at("/bundle") + R"("]}})");
        call.command = "exec";
        call.id = "one";
        call.root = root.at("/runc");
        call.process = root.at("/process");
    }
    /// The environment that the process gets then.
    Env granted(const std::string& process, bool changed = true) {
        root.file("/process", process);
        EXPECT_EQ(grant_to_executed(call), changed) << process;
        std::ifstream file(root.at("/process"));
        const Json now = Json::parse(file, nullptr, false);
        EXPECT_EQ(now != Json::parse(process, nullptr, false), changed) << process;
        return now.is_object() && now.contains("env") ? now["env"].get<Env>() : Env();
    }
    client::TempRoot root;
    Invocation call;
};

TEST_F(ExecEnvironmentTest, TheGrantReplacesTheRequest) {
    EXPECT_EQ(
        granted(R"({"cwd":"/","env":["A=1","NVIDIA_VISIBLE_DEVICES=all","ALIYUN_COM_GPU_MEM_CONTAINER=3,3",
        "ALIYUN_COM_GPU_MEM_UNIT=MiB",
        "NVIDIA_VISIBLE_DEVICES=0"]})"),
        (Env{"A=1", "NVIDIA_VISIBLE_DEVICES=GPU-1", "CUDA_VISIBLE_DEVICES=GPU-1",
             "ALIYUN_COM_GPU_MEM_CONTAINER=4", "ALIYUN_COM_GPU_MEM_DEV=15"}));
    EXPECT_EQ(granted(R"({"args":["sh"]})").size(), 4U);
}

TEST_F(ExecEnvironmentTest, OwnNumbersOfGpusStay) {
    const Env env = granted(R"({"env":["CUDA_VISIBLE_DEVICES=0"]})");
    EXPECT_EQ(env.front(), "CUDA_VISIBLE_DEVICES=0");
    EXPECT_EQ(env.size(), 4U);
}

TEST_F(ExecEnvironmentTest, CrunsStateIsKnown) {
    std::filesystem::remove_all(root.at("/runc/one"));
    root.file("/runc/one/status", R"({"pid":1,"bundle":")" + root.at("/bundle") + R"("})");
    EXPECT_EQ(granted(R"({"env":[]})").size(), 4U);
}

TEST_F(ExecEnvironmentTest, WhatIsNotManagedOrNotKnownIsLeftAlone) {
    call.command = "create";
    granted(R"({"env":[]})", false);
    call.command = "exec";
    call.id = "two";
    granted(R"({"env":[]})", false);
    call.id = "one";
    granted("no JSON", false);
    granted("[]", false);
    root.file("/bundle/config.json", R"({"process":{"env":["NVIDIA_VISIBLE_DEVICES=GPU-1"]}})");
    granted(R"({"env":[]})", false);
    call.process = root.at("/link");
    root.link("/link", root.at("/process"));
    EXPECT_FALSE(grant_to_executed(call)) << "links in a folder of all users are not followed";
}

}  // namespace
}  // namespace cgpu::runtime
