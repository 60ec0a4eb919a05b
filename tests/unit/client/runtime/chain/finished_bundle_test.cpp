#include "client/runtime/chain/finished_bundle.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "client/runtime/oci/own_hook.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

/// The host's device nodes: two GPUs, another name for the second one, and a control device.
std::optional<DeviceNumbers> fake_device(const std::string& path) {
    const std::map<std::string, DeviceNumbers> nodes = {{"/dev/nvidia0", {195, 0}},
                                                        {"/dev/nvidia1", {195, 1}},
                                                        {"/srv/harmless", {195, 1}},
                                                        {"/dev/nvidiactl", {195, 255}},
                                                        {"/dev/null", {1, 3}}};
    const auto found = nodes.find(path);
    if (found == nodes.end()) return std::nullopt;
    return found->second;
}

std::string node(int minor) {
    return R"({"path":"/dev/x","type":"c","major":195,"minor":)" + std::to_string(minor) + "}";
}
std::string rule(const std::string& rest) { return R"({"allow":true,)" + rest + "}"; }
std::string rule(int minor) {
    return rule(R"("type":"c","major":195,"access":"rw","minor":)" + std::to_string(minor));
}

struct FinishedBundleTest : testing::Test {
    OciBundle bundle(const std::string& config) {
        folder.file("/config.json", config);
        return OciBundle::read(folder.path()).value();
    }
    /// A managed container that was granted GPU 0.
    OciBundle managed(const std::string& devices, const std::string& rules, const std::string& more = "",
                      const std::string& grant = "gpus=0") {
        return bundle(
            R"({"linux":{"devices":[)" + devices + R"(],"resources":{"devices":[)" + rules +
            R"(]}},"hooks":{"createRuntime":[{"path":"/x","args":["cgpu-runtime","hook","attach","id",")" +
            grant + R"("]}],"createContainer":[{"path":"/x","args":["cgpu-runtime","hook","mount",
            "/l","/r","gpus=0,1","gpus=1"]}]})" +
            more + "}");
    }
    /// A container that asked for nothing and got nothing, as far as could be told.
    OciBundle free_one(const std::string& more, const std::string& known = "gpus=none",
                       const std::string& hooks = "") {
        return bundle(
            R"({"hooks":{"createRuntime":[{"path":"/x","args":["cgpu-runtime","hook","check","id",")" +
            known + R"("]}])" + hooks + "}" + more + "}");
    }
    static bool is_checked(OciBundle& bundle) {
        EXPECT_TRUE(finish_bundle(bundle, fake_device));
        return checked_gpus(bundle).has_value();
    }
    static GpuAccess access(const OciBundle& bundle) { return gpu_access(bundle, fake_device); }
    client::TempRoot folder;
};

using MinorSet = std::set<std::uint32_t>;

TEST_F(FinishedBundleTest, AManagedContainerKeepsTheDevicesOfItsGrant) {
    auto both = managed(node(0) + "," + node(1) + "," + node(255), rule(0) + "," + rule(1) + "," + rule(255));
    ASSERT_TRUE(finish_bundle(both, fake_device).value());
    EXPECT_EQ(access(both).gpus(), MinorSet{0});
    EXPECT_TRUE(access(both).control);
    EXPECT_FALSE(finish_bundle(both, fake_device).value()) << "it is finished";
}

TEST_F(FinishedBundleTest, OtherGpusInsteadOfTheGrantedOneAreRefused) {
    auto other = managed(node(1), rule(1));
    const auto finished = finish_bundle(other, fake_device);
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().kind, client::ClientError::Kind::refused);
    EXPECT_NE(finished.error().text.find(". Try: "), std::string::npos);
}

TEST_F(FinishedBundleTest, TheGrantIsNotReadFromWhatAnImageWrites) {
    // managed() has such texts where the hook has LD_LIBRARY_PATH and CONDA_PREFIX.
    auto both = managed(node(0) + "," + node(1), rule(0) + "," + rule(1));
    EXPECT_EQ(granted_gpus(both)->minors, MinorSet{0});
    auto unsaid = managed(node(0) + "," + node(1), "", "", "--json-log=/l");
    EXPECT_EQ(granted_gpus(unsaid), std::nullopt);
}

TEST_F(FinishedBundleTest, NodesAreToldByTheirNumbersAndNotByTheirNames) {
    auto named = managed(node(0), "", R"(,"mounts":[{"destination":"/tmp/a","source":"/srv/harmless"},
        {"destination":"/dev/null","source":"/dev/null"}])");
    EXPECT_EQ(access(named).nodes, (MinorSet{0, 1}));
    ASSERT_TRUE(finish_bundle(named, fake_device).value());
    EXPECT_EQ(access(named).nodes, MinorSet{0});
    EXPECT_EQ(named.config()["mounts"].size(), 1U);
}

TEST_F(FinishedBundleTest, ARuleThatOpensOtherGpusIsNarrowedOrRefused) {
    for (const char* wide : {R"("type":"c","major":195,"minor":-1,"access":"rwm")", R"("major":195)",
                             R"("type":"a","major":195,"access":"r")"}) {
        auto all = managed(node(0), rule(wide));
        EXPECT_TRUE(access(all).all_by_rule) << wide;
        ASSERT_TRUE(finish_bundle(all, fake_device)) << wide;
        EXPECT_FALSE(access(all).all_by_rule) << wide;
        EXPECT_EQ(access(all).gpus(), MinorSet{0}) << wide;
    }
    const std::string privileged = R"(,"process":{"capabilities":{"bounding":["CAP_SYS_ADMIN"]}})";
    for (const char* machine :
         {R"("access":"rwm")", R"("type":"a","major":-1,"minor":-1,"access":"w")",
          R"("type":"c","access":"r")", R"("type":"c","major":-1,"minor":1,"access":"rw")"}) {
        auto wide = managed(node(0), rule(machine));
        EXPECT_FALSE(finish_bundle(wide, fake_device)) << machine;
        auto with_all = managed(node(0), rule(machine), privileged);
        EXPECT_TRUE(finish_bundle(with_all, fake_device)) << machine;
    }
    for (const char* harmless : {R"("type":"c","access":"m")", R"("type":"b","access":"rwm")",
                                 R"("type":"c","major":1,"minor":1,"access":"rwm")"}) {
        auto plain = managed(node(0), rule(harmless));
        EXPECT_TRUE(finish_bundle(plain, fake_device)) << harmless;
    }
    // A later rule counts.
    auto denied =
        managed(node(0), rule(R"("type":"c","access":"rwm")") + R"(,{"allow":false,"access":"rwm"})");
    EXPECT_TRUE(finish_bundle(denied, fake_device));
}

TEST_F(FinishedBundleTest, AContainerWithoutAGpuIsNotChecked) {
    for (const char* plain :
         {"", R"(,"linux":{"devices":[{"path":"/dev/fuse","type":"c","major":10,"minor":229}],
                 "resources":{"devices":[{"allow":false,"access":"rwm"}]}})",
          // NVIDIA_VISIBLE_DEVICES=none: the driver and control devices.
          R"(,"mounts":[{"destination":"/l/libcuda.so.1","source":"/l/libcuda.so.1"}],
             "linux":{"devices":[{"path":"/dev/nvidiactl","type":"c","major":195,"minor":255}]})"}) {
        auto free = free_one(plain);
        EXPECT_FALSE(is_checked(free)) << plain;
    }
    auto docker =
        free_one("", "gpus=none", R"(,"prestart":[{"path":"/proc/1/exe","args":["libnetwork-setkey"]}])");
    EXPECT_FALSE(is_checked(docker));
}

TEST_F(FinishedBundleTest, AContainerWithAGpuThatNobodyKnowsOfIsChecked) {
    for (const std::string& brought :
         {R"(,"linux":{"devices":[)" + node(1) + "]}",
          R"(,"linux":{"resources":{"devices":[)" + rule(1) + "]}}",
          R"(,"linux":{"resources":{"devices":[)" + rule(R"("type":"c","access":"rwm")") + "]}}",
          std::string(R"(,"mounts":[{"destination":"/a","source":"/srv/harmless"}])"),
          std::string(R"(,"mounts":[{"destination":"/a","source":"/l/libcuda.so.580.65.06"}])")}) {
        auto free = free_one(brought);
        EXPECT_TRUE(is_checked(free)) << brought;
        auto known = free_one(brought, "gpus=all");
        EXPECT_FALSE(is_checked(known)) << brought;
    }
    auto known = free_one(R"(,"linux":{"devices":[)" + node(1) + "]}", "whole=1");
    EXPECT_FALSE(is_checked(known));
    auto other = free_one(R"(,"linux":{"devices":[)" + node(0) + "," + node(1) + "]}", "whole=1");
    EXPECT_TRUE(is_checked(other));
}

TEST_F(FinishedBundleTest, HooksThatMayBringOneInAreFollowedByTheCheck) {
    auto legacy = free_one("", "gpus=none", R"(,"prestart":[{"path":"/any/name","args":["x","prestart"]}])");
    EXPECT_TRUE(is_checked(legacy));
    auto later = bundle(R"({"hooks":{"createRuntime":[
        {"path":"/x","args":["cgpu-runtime","hook","check","id","gpus=none"]},{"path":"/other"}]}})");
    EXPECT_TRUE(is_checked(later));
    EXPECT_EQ(later.config()["hooks"]["createRuntime"][0]["path"], "/other");
}

TEST_F(FinishedBundleTest, WhatCgpudKnowsIsWrittenAsItIsRead) {
    for (const KnownGpus& known : {KnownGpus{}, KnownGpus{{0, 12}, false, false}, KnownGpus{{3}, false, true},
                                   KnownGpus{{}, true, false}, KnownGpus{{}, true, true}}) {
        const auto again = KnownGpus::read(known.argument());
        ASSERT_TRUE(again) << known.argument();
        EXPECT_EQ(again->argument(), known.argument());
    }
    for (const char* other :
         {"", "gpus", "gpus=", "gpus=x", "gpus=1,", "gpus=99999999999", "--json-log=/x", "whole=-1"})
        EXPECT_FALSE(KnownGpus::read(other)) << other;
}

}  // namespace
}  // namespace cgpu::runtime
