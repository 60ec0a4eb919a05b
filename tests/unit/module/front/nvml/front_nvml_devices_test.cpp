// The GPUs that a managed process finds: the driver has two, and the second one is the instance's.
#include "tests/unit/module/front/support/front_nvml.hpp"

namespace {

using namespace cgpu::front::nvml;

class NvmlDevices : public NvmlFront {
  protected:
    int count(unsigned& found, const char* name = "nvmlDeviceGetCount_v2") {
        return nvml<int(unsigned*)>(name)(&found);
    }
    int by_index(unsigned index, Device& device, const char* name = "nvmlDeviceGetHandleByIndex_v2") {
        return nvml<int(unsigned, Device*)>(name)(index, &device);
    }
    int by_uuid(const char* uuid, Device& device) {
        return nvml<int(const char*, Device*)>("nvmlDeviceGetHandleByUUID")(uuid, &device);
    }
    int index_of(Device device, unsigned& index) {
        return nvml<int(Device, unsigned*)>("nvmlDeviceGetIndex")(device, &index);
    }
};

TEST_F(NvmlDevices, AreTheInstancesAlone) {
    for (const char* name : {"nvmlDeviceGetCount", "nvmlDeviceGetCount_v2"}) {
        unsigned found = 7;
        EXPECT_EQ(count(found, name), kSuccess) << name;
        EXPECT_EQ(found, 1U) << name;
    }
    for (const char* name : {"nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2"}) {
        Device device = nullptr;
        EXPECT_EQ(by_index(0, device, name), kSuccess) << name;
        EXPECT_EQ(device, cards_[0]) << name;
        device = nullptr;
        EXPECT_EQ(by_index(1, device, name), kInvalidArgument) << name;
        EXPECT_EQ(device, nullptr) << name;
    }
}

TEST_F(NvmlDevices, AreNumberedFromZero) {
    unsigned index = 7;
    EXPECT_EQ(index_of(cards_[0], index), kSuccess);
    EXPECT_EQ(index, 0U);
    index = 7;
    EXPECT_EQ(index_of(cards_[1], index), kNotFound);
    EXPECT_EQ(index, 7U);
}

TEST_F(NvmlDevices, AnothersIsNotFoundByItsName) {
    Device device = nullptr;
    EXPECT_EQ(by_uuid("GPU-11111111-1111-1111-1111-111111111111", device), kSuccess);
    EXPECT_EQ(device, cards_[0]);
    device = nullptr;
    EXPECT_EQ(by_uuid("GPU-22222222-2222-2222-2222-222222222222", device), kNotFound);
    EXPECT_EQ(device, nullptr);
}

TEST_F(NvmlDevices, TheDriversErrorsAndNullPointersStay) {
    EXPECT_EQ(nvml<int(unsigned*)>("nvmlDeviceGetCount_v2")(nullptr), kInvalidArgument);
    EXPECT_EQ((nvml<int(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2")(0, nullptr)), kInvalidArgument);
    ASSERT_EQ(nvml<int()>("nvmlShutdown")(), kSuccess);
    unsigned found = 7;
    EXPECT_EQ(count(found), kUninitialized);
    Device device = nullptr;
    EXPECT_EQ(by_index(0, device), kUninitialized);
    EXPECT_EQ(found, 7U);
}

TEST_F(NvmlDevices, WithoutTheDaemonNoneIsShown) {
    take_daemon_down();
    unsigned found = 7;
    EXPECT_EQ(count(found), kUnknown);
    EXPECT_EQ(found, 7U);
    daemon().down = 0;
    ASSERT_TRUE(eventually([&] { return daemon().is_down == 0; }));
    EXPECT_EQ(count(found), kSuccess);
    EXPECT_EQ(found, 1U);
}

}  // namespace
