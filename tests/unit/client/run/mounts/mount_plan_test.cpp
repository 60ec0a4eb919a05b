#include "client/run/mounts/mount_plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace cgpu::client {
namespace {

const std::vector<DriverLibrary> kDriver = {
    {"libcuda.so.1",
     {"/usr/lib/libcuda.so.535", {8, 1}},
     {{"/usr/lib/libcuda.so.535", {8, 1}}, {"/opt/libcuda.so.470", {8, 2}}}},
    {"libnvidia-ml.so.1",
     {"/usr/lib/libnvidia-ml.so.535", {8, 3}},
     {{"/usr/lib/libnvidia-ml.so.535", {8, 3}}}},
};

/// Only that very file may be mounted over.
Bind over(const std::string& cover, const std::string& path, const FileId& file) {
    return {cover, path, Bind::Side::inside, file};
}

TEST(MountPlan, PutsLinkAndModuleWhereTheModuleLooks) {
    const MountPlan plan = plan_mounts(kDriver, "/run/cgpu/links/7", {"/m", "/f"});
    EXPECT_EQ(plan.base, "/run/cgpu");
    EXPECT_EQ(plan.inside, (std::vector<Bind>{
                               {"/run/cgpu/links/7", "/run/cgpu/link", Bind::Side::host},
                               {"/m", "/run/cgpu/module", Bind::Side::host},
                           }));
}

TEST(MountPlan, FitsAFrontToEachLibrary) {
    const MountPlan plan = plan_mounts(kDriver, "/l", {"/m", "/f"});
    EXPECT_EQ(
        plan.fronts,
        (std::vector<FittedFront>{
            {"/f/libcuda.so.1", "/usr/lib/libcuda.so.535", "/run/cgpu/front/libcuda.so.1"},
            {"/f/libnvidia-ml.so.1", "/usr/lib/libnvidia-ml.so.535", "/run/cgpu/front/libnvidia-ml.so.1"},
        }));
}

TEST(MountPlan, CoversEveryFileOfTheDriver) {
    const MountPlan plan = plan_mounts(kDriver, "/l", {"/m", "/f"});
    EXPECT_EQ(plan.over,
              (std::vector<Bind>{
                  over("/run/cgpu/front/libcuda.so.1", "/usr/lib/libcuda.so.535", {8, 1}),
                  over("/run/cgpu/front/libcuda.so.1", "/opt/libcuda.so.470", {8, 2}),
                  over("/run/cgpu/front/libnvidia-ml.so.1", "/usr/lib/libnvidia-ml.so.535", {8, 3}),
              }));
}

TEST(MountPlan, HidesWhatHasNoFrontBelowAnEmptyFile) {
    auto driver = kDriver;
    driver.push_back({"libnvidia-opencl.so.1",
                      {"/usr/lib/opencl", {8, 4}},
                      {{"/usr/lib/opencl", {8, 4}}, {"/opt/opencl", {9, 1}}},
                      true});
    const MountPlan plan = plan_mounts(driver, "/l", {"/m", "/f"});
    EXPECT_EQ(plan.fronts.size(), 2U);
    EXPECT_EQ(plan.nothing, "/run/cgpu/front/nothing");
    EXPECT_EQ(std::vector<Bind>(plan.over.begin() + 3, plan.over.end()),
              (std::vector<Bind>{over(plan.nothing, "/usr/lib/opencl", {8, 4}),
                                 over(plan.nothing, "/opt/opencl", {9, 1})}));
}

TEST(MountPlan, ADriverWithoutNvmlHasNoNvmlFront) {
    const MountPlan plan = plan_mounts({kDriver.front()}, "/l", {});
    EXPECT_EQ(plan.fronts.size(), 1U);
    EXPECT_TRUE(std::none_of(plan.over.begin(), plan.over.end(), [](const Bind& bind) {
        return bind.from.find("nvidia-ml") != std::string::npos;
    }));
}

}  // namespace
}  // namespace cgpu::client
