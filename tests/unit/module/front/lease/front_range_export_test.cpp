// A descriptor of an address range keeps memory alive, which therefore stays charged.
#include "tests/unit/module/front/support/front_physical.hpp"

namespace {

class FrontRangeExport : public FrontPhysical {
  protected:
    int export_range(std::uint64_t address, std::uint64_t bytes) const {
        int descriptor = -1;
        EXPECT_EQ((call<int(void*, std::uint64_t, std::size_t, int, unsigned long long)>(
                      "cuMemGetHandleForAddressRange")(&descriptor, address, bytes, 1, 0)),
                  0);
        return descriptor;
    }
    std::uint64_t allocated() const {
        std::uint64_t address = 0;
        EXPECT_EQ(allocate(kBytes, &address), 0);
        return address;
    }
};

TEST_F(FrontRangeExport, PhysicalMemoryIsChargedUntilTheDescriptorIsClosed) {
    start();
    for (std::uint64_t i = 0; i < 3; ++i) {
        const auto handle = create();
        map(kAddress + i * kBytes, handle);
        release(handle);
    }
    // The last of the second and the first of the third.
    const int descriptor = export_range(kAddress + 2 * kBytes - 2 * kMiB, 4 * kMiB);
    unmap(kAddress, 3 * kBytes);
    expect_charged(2 * kBytes);
    close(descriptor);
    expect_charged(0);
}

TEST_F(FrontRangeExport, AnAllocationIsChargedUntilItsDescriptorsAreClosed) {
    start();
    const auto address = allocated();
    const int first = export_range(address, kBytes);
    const int second = export_range(address + 2 * kMiB, 2 * kMiB);
    ASSERT_EQ(free(address), 0);
    expect_charged(kBytes);
    close(first);
    expect_charged(kBytes);
    close(second);
    expect_charged(0);
}

TEST_F(FrontRangeExport, AnAllocationWhoseDescriptorsAreClosedIsFreedAsAnyOther) {
    start();
    const auto address = allocated();
    close(export_range(address, kBytes));
    ASSERT_EQ(free(address), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
}

TEST_F(FrontRangeExport, ADescriptorsNumberMayBecomeAnotherOnes) {
    start();
    const auto first = allocated();
    const int descriptor = export_range(first, kBytes);
    close(descriptor);
    const auto second = allocated();
    ASSERT_EQ(export_range(second, kBytes), descriptor);
    ASSERT_EQ(free(first), 0);
    expect_charged(kBytes);
    ASSERT_EQ(free(second), 0);
    expect_charged(kBytes);
    close(descriptor);
    expect_charged(0);
}

TEST_F(FrontRangeExport, AContextsEndFreesItsAllocationsButNotWhatDescriptorsKeep) {
    start();
    const int descriptor = export_range(allocated(), kBytes);
    allocated();
    void* first = context_;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context_, 0, 0)), 0);
    const auto later = allocated();
    close(export_range(later, kBytes));
    ASSERT_EQ(call<int(void*)>("cuCtxDestroy_v2")(first), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 2 * kBytes; }));
    ASSERT_EQ(free(later), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == kBytes; }));
    close(descriptor);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
}

}  // namespace
