#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "client/runtime/cdi_attach.hpp"
#include "client/runtime/cdi_mount.hpp"
#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using Calls = std::vector<std::string>;
using cgpuctl::kUuid0;
using cgpuctl::kUuid1;
using cgpuctl::kWebId;

const std::string kCreate = "create_instance " + std::string(kWebId) + " web";
const std::string kAttach = "attach " + std::string(kWebId);
const std::string kRelease = "release_instance " + std::string(kWebId);

/// A container's config.json: its variables, its GPUs' minor numbers, and other hooks.
std::string config(const std::string& variables, const std::vector<int>& minors = {},
                   const std::string& hooks = "") {
    std::string devices;
    for (const int minor : minors)
        devices += std::string(devices.empty() ? "" : ",") + R"({"path":"/dev/nvidia)" +
                   std::to_string(minor) + R"(","type":"c","major":195,"minor":)" + std::to_string(minor) +
                   "}";
    return R"({"hostname":"web","process":{"env":[)" + variables + R"(]},"linux":{"devices":[)" + devices +
           R"(]},"hooks":{"createRuntime":[{"path":"/x","args":["cgpu-runtime","hook","cdi","attach","0-quarter"]}])" +
           hooks + "}}";
}

const std::string kQuarter =
    R"("ALIYUN_COM_GPU_MEM_CONTAINER=1","ALIYUN_COM_GPU_MEM_DEV=4","CGPU_COMPUTE=25%")";
const std::string kOfGpu0 =
    kQuarter + R"(,"CGPU_GPUS=)" + kUuid0 + R"(","NVIDIA_VISIBLE_DEVICES=)" + kUuid0 + "\"";

struct CdiHooksTest : testing::Test {
    CdiHooksTest() {
        node.grant = client::Created{{{kUuid0, 0, 4032 * cgpuctl::kMib, 5, false}}, "/l", {}};
        folder.folder("/rootfs/dev");
    }
    client::Result<void> attach(const std::string& text) {
        node.calls.clear();
        folder.file("/config.json", text);
        return cdi_attach_hook(state(), node);
    }
    [[nodiscard]] std::string state() const {
        return R"({"id":")" + std::string(kWebId) + R"(","pid":)" + std::to_string(getpid()) +
               R"(,"bundle":")" + folder.path() + "\"}";
    }
    client::TempRoot folder;
    cgpuctl::FakeNode node;
};

TEST_F(CdiHooksTest, AContainerOfAnotherRuntimeIsAdmittedAndAttached) {
    ASSERT_TRUE(attach(config(kOfGpu0, {0})));
    EXPECT_EQ(node.calls, (Calls{kCreate, kAttach}));
    EXPECT_EQ(node.readings, 0) << "a start needs nothing of the other instances";
    ASSERT_TRUE(attach(config(kOfGpu0))) << "its devices may come by NVIDIA's hook";
    ASSERT_TRUE(attach(config(kQuarter, {0}))) << "its device says which GPU";
    EXPECT_EQ(node.calls, (Calls{kCreate, kAttach}));
}

TEST_F(CdiHooksTest, WhatCgpusRuntimeMadeIsLeftAlone) {
    const std::string managed =
        R"(,"createContainer":[{"path":"/x","args":["cgpu-runtime","hook","mount","/l"]}])";
    ASSERT_TRUE(attach(config(kOfGpu0, {0}, managed)));
    EXPECT_TRUE(node.calls.empty());
    EXPECT_TRUE(cdi_mount_hook("/no/instances", state()));
}

TEST_F(CdiHooksTest, AVariableThatDeclinesManagementContradictsTheDevice) {
    const auto done = attach(config(kOfGpu0 + R"(,"CGPU_DISABLE=1")", {0}));
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find("cgpu.org/gpu=0-quarter: "), std::string::npos) << done.error().text;
    EXPECT_FALSE(attach(config(kOfGpu0 + R"(,"CGPU_MEM=0")", {0})));
    EXPECT_TRUE(node.calls.empty());
}

TEST_F(CdiHooksTest, AGpuThatCgpudWouldChooseIsRefused) {
    for (const auto& minors : {std::vector<int>{}, {0, 1}}) {
        const auto done = attach(config(kQuarter + R"(,"NVIDIA_VISIBLE_DEVICES=all")", minors));
        ASSERT_FALSE(done);
        EXPECT_TRUE(
            done.error().text.starts_with("cgpu.org/gpu=0-quarter: it leaves the choice of the GPU to cgpud"))
            << done.error().text;
        EXPECT_TRUE(node.calls.empty());
    }
    node.snapshot.gpus.pop_back();
    EXPECT_TRUE(attach(config(kQuarter, {0}))) << "there is no choice";
}

TEST_F(CdiHooksTest, OtherGpusAreRefusedAndTheGrantIsGivenBack) {
    // Two devices on a node with two GPUs name none, for the request.
    auto done = attach(config(kOfGpu0, {0, 1}));
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find("also gets GPU " + std::string(kUuid1)), std::string::npos)
        << done.error().text;
    EXPECT_EQ(node.calls, (Calls{kCreate, kRelease}));
    // NVIDIA's own hook brings in what the variable names.
    const std::string nvidia = R"(,"prestart":[{"path":"/usr/bin/nvidia-container-runtime-hook"}])";
    for (const char* names : {"all", "0,1"}) {
        done = attach(
            config(kQuarter + R"(,"CGPU_GPUS=0","NVIDIA_VISIBLE_DEVICES=)" + names + "\"", {}, nvidia));
        ASSERT_FALSE(done) << names;
        EXPECT_EQ(node.calls, (Calls{kCreate, kRelease}));
    }
    EXPECT_TRUE(attach(config(kOfGpu0, {}, nvidia)));
}

TEST_F(CdiHooksTest, GpusThatHooksHaveBroughtInAreRefused) {
    if (mknod(folder.at("/rootfs/dev/any").c_str(), S_IFCHR | 0600, makedev(195, 1)) != 0)
        GTEST_SKIP() << "nodes can't be made here";
    const std::string hook = R"(,"prestart":[{"path":"/any/name"}])";
    const auto done = attach(config(kOfGpu0, {}, hook));
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find("hooks brought in GPUs"), std::string::npos) << done.error().text;
    EXPECT_EQ(node.calls, (Calls{kCreate, kRelease}));
    node.grant->quotas.front().gpu = kUuid1;
    EXPECT_TRUE(attach(config(kQuarter + R"(,"CGPU_GPUS=1")", {}, hook))) << "that is its GPU";
}

TEST_F(CdiHooksTest, ARefusalAndAFailedAttachLeaveNoInstance) {
    node.refusals[kAttach] = {client::ClientError::Kind::failed, "no. Try: again."};
    EXPECT_FALSE(attach(config(kOfGpu0, {0})));
    EXPECT_EQ(node.calls, (Calls{kCreate, kAttach, kRelease}));
    node.grant = client::fail(client::ClientError::Kind::refused, "no. Try: less.");
    EXPECT_EQ(attach(config(kOfGpu0, {0})).error().text, "no. Try: less.");
    EXPECT_EQ(node.calls, Calls{kCreate});
    for (const char* state : {"", "[]", "{}", R"({"id":"x"})", R"({"id":1,"bundle":"/b"})"}) {
        EXPECT_FALSE(cdi_attach_hook(state, node)) << state;
        EXPECT_FALSE(cdi_mount_hook("/i", state)) << state;
    }
}

TEST_F(CdiHooksTest, TheMountHookLooksForTheDriverInTheContainersRoot) {
    folder.folder("/rootfs/usr/lib");
    folder.file("/config.json", config(kOfGpu0, {0}));
    const auto done = cdi_mount_hook("/no/instances", state());
    ASSERT_FALSE(done);
    EXPECT_TRUE(done.error().text.starts_with("the container: there is no libcuda.so.1 in it"))
        << done.error().text;
}

}  // namespace
}  // namespace cgpu::runtime
