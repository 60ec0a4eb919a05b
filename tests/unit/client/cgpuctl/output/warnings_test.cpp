#include "client/cgpuctl/output/warnings.hpp"

#include <gtest/gtest.h>

#include "client/cgpuctl/output/format.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

bool warns_of(const client::Snapshot& snapshot, const std::string& part) {
    for (const std::string& warning : warnings_about(snapshot))
        if (warning.find(part) != std::string::npos) return true;
    return false;
}

TEST(Warnings, NoneWhereAllIsWell) { EXPECT_TRUE(warnings_about(two_gpus()).empty()); }

TEST(Warnings, AConfigurationThatWasRefused) {
    auto snapshot = two_gpus();
    snapshot.configuration_problems = {{"/etc/cgpu/cgpud.yaml", 3,
                                        "/etc/cgpu/cgpud.yaml:3: slice_ms = \"0\": it is out of range. Try: "
                                        "use a whole number from 1 to 100.",
                                        1700000000}};
    const auto warnings = warnings_about(snapshot);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(
        warnings[0],
        "configuration: the files were refused, and the former configuration is in force since " +
            time_text(1700000000) +
            ": /etc/cgpu/cgpud.yaml:3: slice_ms = \"0\": it is out of range. Try: use a whole number from "
            "1 to 100, and then systemctl reload cgpud.");
}

TEST(Warnings, ADriverThatIsNewerThanTheRelease) {
    auto snapshot = two_gpus();
    snapshot.newer_driver_functions = {"cuFoo"};
    EXPECT_TRUE(warns_of(snapshot, "driver: 1 function is newer than this release"));
    snapshot.newer_driver_functions = {"cuA", "cuB", "cuC", "cuD", "cuE", "cuF"};
    EXPECT_TRUE(warns_of(snapshot,
                         "driver: 6 functions are newer than this release, and no limit holds for what "
                         "programs do by them: cuA, cuB, cuC, cuD, cuE, .... Try: install"));
}

TEST(Warnings, NoModule) {
    auto snapshot = two_gpus();
    snapshot.module_version.clear();
    EXPECT_TRUE(warns_of(snapshot, "module: none is installed"));
}

TEST(Warnings, NoGpu) {
    auto snapshot = two_gpus();
    snapshot.gpus.clear();
    EXPECT_TRUE(warns_of(snapshot, "GPUs: the driver shows none"));
}

TEST(Warnings, AGpuThatWent) {
    auto snapshot = two_gpus();
    snapshot.gpus[1].present = false;
    EXPECT_TRUE(warns_of(snapshot, std::string("GPU 1 is lost: the driver no longer sees it (") + kUuid1));
}

TEST(Warnings, AGpuThatTheSwitchedModeHasNotReached) {
    auto snapshot = two_gpus();
    snapshot.mode = "none";
    EXPECT_TRUE(warnings_about(snapshot).empty()) << "the configuration's is for GPUs that are new";
    snapshot.mode_source = "switched";
    snapshot.gpus[1].mode = "none";
    ASSERT_EQ(warnings_about(snapshot).size(), 1U);
    EXPECT_TRUE(warns_of(snapshot,
                         "GPU 0: it serves mode memory+compute until its instances end, and refuses "
                         "instances of the node's mode, none."));
}

TEST(Warnings, AWeightOfZeroWhereComputeIsDivided) {
    auto snapshot = two_gpus();
    snapshot.instances[0].gpus[0].quota.weight = 0;
    EXPECT_TRUE(warns_of(snapshot, "instance 0123456789ab: its weight on GPU 0 is 0"));
    snapshot.gpus[0].policy = 5;
    EXPECT_FALSE(warns_of(snapshot, "its weight"));
    snapshot.gpus[0].policy = 2;
    snapshot.gpus[0].mode = "memory";
    EXPECT_FALSE(warns_of(snapshot, "its weight"));
}

}  // namespace
}  // namespace cgpu::cgpuctl
