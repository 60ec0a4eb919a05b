// Memory that was exported may live on without the process: it is surrendered when the process doesn't hold
// it any more.
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
    /// cgpud counts so much as kept by descriptors, and the process has charged nothing.
    void expect_kept(std::uint64_t bytes, int line = __builtin_LINE()) {
        const testing::ScopedTrace trace(__FILE__, line, "kept");
        EXPECT_TRUE(eventually([&] { return daemon().kept_bytes == bytes; }));
        EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
    }
};

TEST_F(FrontRangeExport, TheDaemonKnowsOfAnExportBeforeTheProgram) {
    start();
    const auto address = allocated();
    EXPECT_EQ(daemon().exported_told, 0u);
    close(export_range(address, kBytes));
    EXPECT_TRUE(eventually([&] { return daemon().exported_told == kBytes; }));
    close(export_range(address, 2 * kMiB));
    close(export_range(allocated(), 2 * kMiB));
    EXPECT_TRUE(eventually([&] { return daemon().exported_told == 2 * kBytes; })) << "each allocation once";
}

TEST_F(FrontRangeExport, PhysicalMemoryThatWasExportedIsSurrendered) {
    start();
    for (std::uint64_t i = 0; i < 3; ++i) {
        const auto handle = create();
        map(kAddress + i * kBytes, handle);
        release(handle);
    }
    // The last of the second and the first of the third.
    const int descriptor = export_range(kAddress + 2 * kBytes - 2 * kMiB, 4 * kMiB);
    expect_charged(3 * kBytes);
    EXPECT_EQ(daemon().kept_bytes, 0u);
    unmap(kAddress, 3 * kBytes);
    expect_kept(2 * kBytes);
    expect_charged(2 * kBytes);
    close(descriptor);
    expect_charged(2 * kBytes);  // only the GPU's figures tell whether another descriptor keeps it
    daemon().kept_bytes = 0;
    expect_charged(0);
}

TEST_F(FrontRangeExport, AnAllocationThatWasExportedIsSurrendered) {
    start();
    const auto address = allocated();
    close(export_range(address, kBytes));
    ASSERT_EQ(free(address), 0);
    expect_kept(kBytes);
    expect_charged(kBytes);
}

TEST_F(FrontRangeExport, WhatIsSurrenderedIsGoneBeforeAnotherThreadCanTakeIt) {
    start();
    const auto room = daemon().limit_bytes - kContextEstimate;
    std::atomic<bool> done{false};
    std::atomic<bool> taken{false};
    std::vector<std::uint64_t> all(room / kBytes);
    for (auto& address : all) ASSERT_EQ(allocate(kBytes, &address), 0);
    for (const auto address : all) close(export_range(address, kBytes));
    std::thread other([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        // The limit is full, and what the others free is kept.
        std::uint64_t address = 0;
        while (!done.load())
            if (allocate(kBytes, &address) == 0) taken.store(true);
    });
    for (const auto address : all) ASSERT_EQ(free(address), 0);
    done.store(true);
    other.join();
    EXPECT_FALSE(taken.load());
    expect_kept(all.size() * kBytes);
}

TEST_F(FrontRangeExport, WithoutTheDaemonItCountsUntilTheProcessEnds) {
    start();
    const auto address = allocated();
    close(export_range(address, kBytes));
    EXPECT_TRUE(eventually([&] { return daemon().exported_told == kBytes; }));
    take_daemon_down();
    daemon().exported_told = 0;
    ASSERT_EQ(free(address), 0);
    daemon().down = 0;
    EXPECT_TRUE(eventually([&] { return daemon().exported_told == kBytes; })) << "the next one is told, too";
    EXPECT_EQ(daemon().kept_bytes, 0u);
}

TEST_F(FrontRangeExport, AContextsEndSurrendersItsAllocationsThatWereExported) {
    start();
    close(export_range(allocated(), kBytes));
    allocated();
    void* first = context_;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context_, 0, 0)), 0);
    const auto later = allocated();
    close(export_range(later, kBytes));
    ASSERT_EQ(call<int(void*)>("cuCtxDestroy_v2")(first), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == kBytes; }));
    EXPECT_TRUE(eventually([&] { return daemon().kept_bytes == kBytes; }));
    ASSERT_EQ(free(later), 0);
    EXPECT_TRUE(eventually([&] { return daemon().kept_bytes == 2 * kBytes; }));
}

}  // namespace
