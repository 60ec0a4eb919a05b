// Green contexts: what they have in common with the primary context, and what they have of their own.
#include <gtest/gtest.h>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

CUgreenCtx make_green() {
    CUdevResource whole{};
    REQUIRE_OK(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
    CUdevResource part{};
    unsigned int groups = 1;
    REQUIRE_OK(cuDevSmResourceSplitByCount(&part, &groups, &whole, nullptr, 0, 2));
    REQUIRE_EQ(groups, 1U);
    CUdevResourceDesc description = nullptr;
    REQUIRE_OK(cuDevResourceGenerateDesc(&description, &part, 1));
    CUgreenCtx green = nullptr;
    REQUIRE_EQ(cuGreenCtxCreate(&green, description, 0, 0), CUDA_ERROR_INVALID_VALUE);
    REQUIRE_OK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

CUcontext context_of(CUgreenCtx green) {
    CUcontext context = nullptr;
    REQUIRE_OK(cuCtxFromGreenCtx(&context, green));
    return context;
}

TEST(GreenContext, RetainsThePrimaryContextAndTakesNoMoreMemory) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        REQUIRE_OK(cuInit(0));
        CUgreenCtx green = make_green();
        line.say('g');
        line.wait();
        REQUIRE_OK(cuGreenCtxDestroy(green));
        REQUIRE_EQ(cuGreenCtxDestroy(green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        line.say('d');
        line.wait();
    });
    EXPECT_EQ(child.hear(), 'g');
    EXPECT_EQ(device.use(child.pid()).context_bytes, 100 * kMiB);
    child.tell();
    EXPECT_EQ(child.hear(), 'd');
    EXPECT_EQ(device.use(child.pid()).context_bytes, 0U);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

TEST(GreenContext, ItsStreamsTakeEventsOfItsOwnOnly) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUcontext primary = nullptr;
        REQUIRE_OK(cuCtxGetCurrent(&primary));
        CUgreenCtx green = make_green();
        CUstream stream = nullptr;
        REQUIRE_EQ(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
        CUcontext context = nullptr;
        REQUIRE_OK(cuStreamGetCtx(stream, &context));
        REQUIRE_EQ(context == context_of(green), true);
        CUgreenCtx found = nullptr;
        REQUIRE_OK(cuStreamGetGreenCtx(stream, &found));
        REQUIRE_EQ(found == green, true);
        CUevent event = nullptr;
        REQUIRE_OK(cuEventCreate(&event, 0));
        REQUIRE_EQ(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
        REQUIRE_OK(cuCtxPushCurrent(context));
        REQUIRE_OK(cuEventCreate(&event, 0));
        REQUIRE_OK(cuCtxPopCurrent(&context));
        // The kernel and the memory are the primary context's.
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAlloc(&memory, 4096));
        launch_busy(stream, 1000);
        REQUIRE_OK(cuMemsetD8Async(memory, 5, 4096, stream));
        REQUIRE_OK(cuEventRecord(event, stream));
        REQUIRE_OK(cuCtxSetCurrent(primary));
        REQUIRE_OK(cuCtxSynchronize());
        REQUIRE_OK(cuEventQuery(event));
        unsigned char byte = 0;
        REQUIRE_OK(cuMemcpyDtoH(&byte, memory, 1));
        REQUIRE_EQ(byte, 5);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(GreenContext, MemoryOutlivesItAndItsStreamsCantBeUsed) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUgreenCtx green = make_green();
        REQUIRE_OK(cuCtxPushCurrent(context_of(green)));
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAlloc(&memory, 4096));
        CUstream stream = nullptr;
        REQUIRE_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        CUcontext context = nullptr;
        REQUIRE_OK(cuCtxPopCurrent(&context));
        REQUIRE_EQ(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
        REQUIRE_OK(cuGreenCtxDestroy(green));
        REQUIRE_EQ(cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        REQUIRE_OK(cuMemsetD8(memory, 1, 4096));
        REQUIRE_OK(cuMemFree(memory));
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
