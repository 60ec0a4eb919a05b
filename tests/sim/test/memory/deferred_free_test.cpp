// When freed memory is released: not before the work that may use it has passed.
#include <gtest/gtest.h>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

/// Holds the stream until the test calls tell().
void hold(CUstream stream, const Child::Line& line) {
    REQUIRE_OK(cuLaunchHostFunc(
        stream, [](void* of_test) { static_cast<const Child::Line*>(of_test)->wait(); },
        const_cast<Child::Line*>(&line)));
}

TEST(DeferredFree, FreeWaitsForTheContext) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUstream stream = nullptr;
        REQUIRE_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        const CUdeviceptr pointer = allocate(4 * kMiB);
        launch_busy(stream, 20'000);
        REQUIRE_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        REQUIRE_OK(cuMemFree(pointer));
        REQUIRE_OK(cuStreamQuery(stream));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(DeferredFree, FreeAsyncTakesEffectWhenTheStreamHasPassed) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        const CUdeviceptr plain = allocate(4 * kMiB);
        CUdeviceptr pooled = 0;
        REQUIRE_OK(cuMemAllocAsync(&pooled, 6 * kMiB, nullptr));
        hold(nullptr, line);
        REQUIRE_OK(cuMemFreeAsync(plain, nullptr));
        REQUIRE_OK(cuMemFreeAsync(pooled, nullptr));
        REQUIRE_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
        line.say('q');
        // The host function receives the test's word.
        REQUIRE_OK(cuStreamSynchronize(nullptr));
        line.say('s');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'q');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 10 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 's');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 0U);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
