#include "daemon/gpu/reader/memory_limits.hpp"

#include <gtest/gtest.h>

#include "daemon/gpu/reader/nvml_library.hpp"

namespace cgpu::gpu {
namespace {

using Backend = app::DriverLimits::Backend;

class MemoryLimits : public testing::Test {
  protected:
    [[nodiscard]] Backend backend() const { return judge_limits(host_, answer_).backend; }
    [[nodiscard]] std::string why() const { return judge_limits(host_, answer_).why_none; }

    LimitHost host_{"cpuset cpu io memory misc", "", "/sys/fs/cgroup/system.slice/cgpud.service"};
    LimitAnswer answer_{true, false, kNvmlNotSupported, "Not Supported", 0};
};

TEST_F(MemoryLimits, TheKernelsControllerIsPreferred) {
    EXPECT_EQ(backend(), Backend::misc);
    host_.controllers = "cpuset cpu io memory misc dmem\n";
    EXPECT_EQ(backend(), Backend::dmem);
    host_.registry = "Other=2;RmMemacctMode=1";
    EXPECT_EQ(backend(), Backend::misc);
    host_.registry = "RmMemacctMode=3";
    EXPECT_EQ(backend(), Backend::dmem);
    host_.controllers = "dmemory";
    EXPECT_EQ(backend(), Backend::misc);
    EXPECT_EQ(why(), "");
}

TEST_F(MemoryLimits, WhyThereAreNone) {
    answer_.mig = true;
    EXPECT_NE(why().find("MIG"), std::string::npos);
    answer_.mig = false;
    host_.registry = "RmMemacctMode=0;Other=1";
    EXPECT_NE(why().find("switched off"), std::string::npos);
    host_.registry.clear();
    host_.controllers.reset();
    EXPECT_NE(why().find("version 2"), std::string::npos);
    answer_.has_function = false;
    EXPECT_NE(why().find("615"), std::string::npos);
    EXPECT_EQ(backend(), Backend::none);
}

TEST_F(MemoryLimits, AnErrorOfTheDriver) {
    for (const int code : {kNvmlSuccess, kNvmlNotSupported, kNvmlNotFound}) {
        answer_.code = code;
        EXPECT_EQ(backend(), Backend::misc) << code;
    }
    answer_.code = 999;
    answer_.text = "Unknown Error";
    EXPECT_EQ(why(), "NVML says: Unknown Error");
}

TEST_F(MemoryLimits, TheOneThatHoldsForCgpudItself) {
    answer_.code = kNvmlSuccess;
    answer_.hard = 4096;
    EXPECT_EQ(judge_limits(host_, answer_).own_limit, model::Bytes(4096));
    answer_.hard = kNvmlNoLimit;
    EXPECT_EQ(judge_limits(host_, answer_).own_limit, std::nullopt);
    answer_ = {true, false, kNvmlNotSupported, "", 4096};
    EXPECT_EQ(judge_limits(host_, answer_).own_limit, std::nullopt);
}

TEST(DriversRegistry, IsALineOfItsParameters) {
    EXPECT_EQ(registry_in("ResmanDebugLevel: 4294967295\nRegistryDwords: \"RmMemacctMode=0;A=1\"\n"
                          "RegistryDwordsPerDevice: \"B=2\"\n"),
              "RmMemacctMode=0;A=1");
    EXPECT_EQ(registry_in("RegistryDwords: \"\"\n"), "");
    EXPECT_EQ(registry_in("RegistryDwordsPerDevice: \"RmMemacctMode=0\"\n"), "");
    EXPECT_EQ(registry_in(""), "");
}

TEST(OwnCgroup, IsThatOfVersion2) {
    EXPECT_EQ(cgroup_in("0::/system.slice/cgpud.service\n"), "/sys/fs/cgroup/system.slice/cgpud.service");
    EXPECT_EQ(cgroup_in("12:memory:/user\n0::/a b\n"), "/sys/fs/cgroup/a b");
    EXPECT_EQ(cgroup_in("0::/\n"), "/sys/fs/cgroup");
    EXPECT_EQ(cgroup_in("0::/../other\n"), "/sys/fs/cgroup");
    EXPECT_EQ(cgroup_in("12:memory:/user\n"), "/sys/fs/cgroup");
}

}  // namespace
}  // namespace cgpu::gpu
