// Physical memory that multicast objects and sparse arrays use stays charged when the program has let go of
// it.
#include <functional>
#include <utility>

#include "tests/unit/module/front/support/front_physical.hpp"

namespace {

using cgpu::front::ArrayDescriptor;
using cgpu::front::CUarrayMapInfo;

constexpr std::uint64_t kObject = 0x77;
constexpr int kInvalidValue = 1;

class FrontBindings : public FrontPhysical {
  protected:
    int bind(std::uint64_t offset, std::uint64_t handle, std::uint64_t bytes) const {
        return call<int(std::uint64_t, std::size_t, std::uint64_t, std::size_t, std::size_t,
                        unsigned long long)>("cuMulticastBindMem")(kObject, offset, handle, 0, bytes, 0);
    }
    int unbind(int device, std::uint64_t offset, std::uint64_t bytes) const {
        return call<int(std::uint64_t, int, std::size_t, std::size_t)>("cuMulticastUnbind")(kObject, device,
                                                                                            offset, bytes);
    }
    int map_into(std::uint64_t array, std::uint64_t handle, void* stream = nullptr,
                 unsigned count = 1) const {
        CUarrayMapInfo list[2]{};
        for (auto& each : list) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle's value
            each.resource = reinterpret_cast<const void*>(array);
            each.operation = 1;
            each.memory = handle;
        }
        return call<int(CUarrayMapInfo*, unsigned, void*)>(map_arrays_)(list, count, stream);
    }
    /// What another thread does during the next call of the driver that binds an address or exports a handle.
    void meanwhile(std::function<void()> what) {
        meanwhile_ = std::move(what);
        behind<void(void (*)(void*), void*)>("fake_meanwhile")(
            [](void* with) { (*static_cast<std::function<void()>*>(with))(); }, &meanwhile_);
    }
    std::function<void()> meanwhile_;
    int export_as(int type, std::uint64_t handle, std::uint64_t* name) const {
        return call<int(void*, std::uint64_t, int, unsigned long long)>("cuMemExportToShareableHandle")(
            name, handle, type, 0);
    }
    const char* map_arrays_ = "cuMemMapArrayAsync";
    std::uint64_t create_array() const {
        const ArrayDescriptor array{512, 512, 0x20, 1};
        std::uint64_t handle = 0;
        EXPECT_EQ((call<int(std::uint64_t*, const ArrayDescriptor*)>("cuArrayCreate_v2")(&handle, &array)),
                  0);
        return handle;
    }
};

TEST_F(FrontBindings, WhatIsBoundToAMulticastObjectIsChargedUntilItIsUnbound) {
    start();
    const auto handle = create();
    EXPECT_EQ(bind(0, handle, 0), kInvalidValue);
    ASSERT_EQ(bind(0, handle, kBytes / 2), 0);
    ASSERT_EQ(bind(kBytes, handle, kBytes), 0);
    release(handle);
    expect_charged(kBytes);
    EXPECT_EQ(unbind(0, kBytes, 0), kInvalidValue);
    ASSERT_EQ(unbind(0, 0, kBytes / 2), 0);
    expect_charged(kBytes);
    ASSERT_EQ(unbind(1, kBytes, kBytes), 0);  // what another GPU has there
    expect_charged(kBytes);
    ASSERT_EQ(unbind(0, kBytes, kBytes), 0);
    expect_charged(0);
}

TEST_F(FrontBindings, TheFormThatNamesTheDeviceIsOne) {
    start();
    const auto handle = create();
    ASSERT_EQ((call<int(std::uint64_t, int, std::size_t, std::uint64_t, std::size_t, std::size_t,
                        unsigned long long)>("cuMulticastBindMem_v2")(kObject, 0, 0, handle, 0, kBytes, 0)),
              0);
    release(handle);
    expect_charged(kBytes);
    ASSERT_EQ(unbind(0, 0, kBytes), 0);
    expect_charged(0);
}

TEST_F(FrontBindings, AFailedBindHoldsNothing) {
    start();
    const auto handle = create();
    EXPECT_EQ(bind(0, handle, 0), kInvalidValue);
    release(handle);
    expect_charged(0);
}

TEST_F(FrontBindings, WhatIsBoundByItsAddressIsChargedUntilItIsUnbound) {
    start();
    const std::uint64_t handles[] = {create(), create(), create()};
    for (std::uint64_t i = 0; i < 3; ++i) {
        map(kAddress + i * kBytes, handles[i]);
        release(handles[i]);
    }
    // The last of the second and the first of the third.
    const auto bind_at =
        call<int(std::uint64_t, std::size_t, std::uint64_t, std::size_t, unsigned long long)>(
            "cuMulticastBindAddr");
    ASSERT_EQ(bind_at(kObject, 0, kAddress + 2 * kBytes - 2 * kMiB, 4 * kMiB, 0), 0);
    unmap(kAddress, 3 * kBytes);
    expect_charged(2 * kBytes);
    ASSERT_EQ(unbind(0, 0, 4 * kMiB), 0);
    expect_charged(0);
}

TEST_F(FrontBindings, TheFormByAddressThatNamesTheDeviceIsOne) {
    start();
    const auto handle = create();
    map(kAddress, handle);
    release(handle);
    ASSERT_EQ((call<int(std::uint64_t, int, std::size_t, std::uint64_t, std::size_t, unsigned long long)>(
                  "cuMulticastBindAddr_v2")(kObject, 0, 0, kAddress, 2 * kMiB, 0)),
              0);
    unmap(kAddress, kBytes);
    expect_charged(kBytes);
    ASSERT_EQ(unbind(0, 0, 2 * kMiB), 0);
    expect_charged(0);
}

/// The object may live on in another process, and the handle's value be another object's.
TEST_F(FrontBindings, WithTheObjectsHandleGoneTheChargeStays) {
    start();
    const auto handle = create();
    ASSERT_EQ(bind(0, handle, kBytes), 0);
    release(handle);
    release(kObject);
    ASSERT_EQ(unbind(0, 0, kBytes), 0);
    expect_charged(kBytes);
}

TEST_F(FrontBindings, WhatAnotherThreadFreesWhileItIsBoundStaysCharged) {
    start();
    const auto handle = create();
    map(kAddress, handle);
    meanwhile([&] {
        unmap(kAddress, kBytes);
        release(handle);
    });
    ASSERT_EQ((call<int(std::uint64_t, std::size_t, std::uint64_t, std::size_t, unsigned long long)>(
                  "cuMulticastBindAddr")(kObject, 0, kAddress, 2 * kMiB, 0)),
              0);
    expect_charged(kBytes);
    ASSERT_EQ(unbind(0, 0, 2 * kMiB), 0);
    expect_charged(0);
}

TEST_F(FrontBindings, AFailedBindByAddressHoldsNothing) {
    start();
    const auto handle = create();
    map(kAddress, handle);
    const auto bind_at =
        call<int(std::uint64_t, std::size_t, std::uint64_t, std::size_t, unsigned long long)>(
            "cuMulticastBindAddr");
    EXPECT_EQ(bind_at(kObject, 0, kAddress, kBytes, 1), kInvalidValue);
    unmap(kAddress, kBytes);
    release(handle);
    expect_charged(0);
}

/// Whoever has the bytes opens the memory by them, this process, too; there is no descriptor to be closed.
TEST_F(FrontBindings, WhatIsExportedAsAFabricHandleStaysCharged) {
    constexpr int kFabric = 8;
    start();
    const auto handle = create();
    std::uint64_t name = 0;
    ASSERT_EQ(export_as(kFabric, handle, &name), 0);
    release(handle);
    expect_charged(kBytes);
    // Another thread has seen the bytes and released the handle before the call returned.
    const auto second = create();
    meanwhile([&] { release(second); });
    ASSERT_EQ(export_as(kFabric, second, &name), 0);
    expect_charged(2 * kBytes);
}

TEST_F(FrontBindings, AHandleThatCouldNotBeExportedIsHeldByNobody) {
    constexpr int kWin32 = 2;
    start();
    const auto handle = create();
    std::uint64_t name = 0;
    EXPECT_EQ(export_as(kWin32, handle, &name), kInvalidValue);
    release(handle);
    expect_charged(0);
}

TEST_F(FrontBindings, WhatIsMappedIntoAnArrayIsChargedUntilTheArraysEnd) {
    start();
    const auto array = create_array();
    const auto other = create_array();
    const auto handle = create();
    ASSERT_EQ(map_into(array, handle), 0);
    ASSERT_EQ(map_into(array, handle), 0);
    release(handle);
    const auto destroy = call<int(std::uint64_t)>("cuArrayDestroy");
    ASSERT_EQ(destroy(other), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == kBytes + 2 * kMiB; }));
    ASSERT_EQ(destroy(array), 0);
    expect_charged(0);
}

TEST_F(FrontBindings, MappingInAThreadsOwnStreamIsMapping) {
    map_arrays_ = "cuMemMapArrayAsync_ptsz";
    start();
    const auto array = create_array();
    const auto handle = create();
    ASSERT_EQ(map_into(array, handle), 0);
    release(handle);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == kBytes + 2 * kMiB; }));
    ASSERT_EQ(call<int(std::uint64_t)>("cuArrayDestroy")(array), 0);
    expect_charged(0);
}

TEST_F(FrontBindings, AListThatFailedMayHaveBeenMappedInPart) {
    start();
    int stream = 0;
    const auto array = create_array();
    const auto handle = create();
    EXPECT_EQ(map_into(array, handle, &stream, 1), kInvalidValue);
    release(handle);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 2 * kMiB; }));
    const auto second = create();
    EXPECT_EQ(map_into(array, second, &stream, 2), kInvalidValue);
    release(second);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == kBytes + 2 * kMiB; }));
    ASSERT_EQ(call<int(std::uint64_t)>("cuArrayDestroy")(array), 0);
    expect_charged(0);
}

}  // namespace
