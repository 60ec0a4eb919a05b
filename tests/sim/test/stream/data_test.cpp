// What copies, memsets and kernels do to the bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

TEST(Data, KernelsComputeWithParametersGivenEitherWay) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        unsigned int count = 10'000;
        CUdeviceptr a = 0;
        CUdeviceptr b = 0;
        CUdeviceptr c = 0;
        for (CUdeviceptr* pointer : {&a, &b, &c}) REQUIRE_OK(cuMemAlloc(pointer, count * sizeof(float)));
        float two = 2;
        void* fill_parameters[] = {&a, &two, &count};
        REQUIRE_OK(
            cuLaunchKernel(kernel("_Z4fillPffj"), 40, 1, 1, 256, 1, 1, 0, nullptr, fill_parameters, nullptr));
        std::vector<float> ramp(count);
        std::iota(ramp.begin(), ramp.end(), 0.0F);
        REQUIRE_OK(cuMemcpyHtoD(b, ramp.data(), count * sizeof(float)));
        struct {
            CUdeviceptr a, b, c;
            unsigned int count;
        } packed{a, b, c, count};
        std::size_t size = sizeof packed;
        void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                         CU_LAUNCH_PARAM_END};
        REQUIRE_OK(cuLaunchKernel(kernel("vector_add"), 40, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
        std::vector<float> sum(count);
        REQUIRE_OK(cuMemcpyDtoH(sum.data(), c, count * sizeof(float)));
        for (unsigned int i = 0; i < count; ++i) REQUIRE_EQ(sum[i], i + 2);
        CUmodule module = nullptr;
        CUfunction unknown = nullptr;
        REQUIRE_OK(cuModuleLoadData(&module, "image"));
        REQUIRE_EQ(cuModuleGetFunction(&unknown, module, "gemm"), CUDA_ERROR_NOT_FOUND);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Data, CopiesHappenInStreamOrder) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAlloc(&memory, 4096));
        CUstream stream = nullptr;
        REQUIRE_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        launch_busy(stream, 10'000);
        std::vector<unsigned int> pageable(1024, 1);
        REQUIRE_OK(cuMemcpyHtoDAsync(memory, pageable.data(), 4096, stream));
        pageable.assign(1024, 9);  // was read before the call returned
        void* pinned = nullptr;
        REQUIRE_OK(cuMemHostAlloc(&pinned, 4096, 0));
        std::memset(pinned, 0, 4096);
        REQUIRE_OK(cuMemcpyDtoHAsync(pinned, memory, 4096, stream));
        REQUIRE_OK(cuMemsetD32Async(memory, 5, 1024, stream));
        REQUIRE_EQ(*static_cast<unsigned int*>(pinned), 0);
        REQUIRE_OK(cuStreamSynchronize(stream));
        REQUIRE_EQ(*static_cast<unsigned int*>(pinned), 1);
        REQUIRE_OK(cuMemcpyDtoH(pageable.data(), memory, 4096));
        REQUIRE_EQ(pageable[1023], 5);
        REQUIRE_EQ(cuMemcpyDtoH(pageable.data(), memory, 4097), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuMemFreeHost(pinned));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Data, AKernelThatLeavesItsMemoryBreaksTheContext) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAlloc(&memory, 4096));
        unsigned int count = 1025;
        float value = 1;
        void* parameters[] = {&memory, &value, &count};
        REQUIRE_OK(cuLaunchKernel(kernel("fill"), 5, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr));
        REQUIRE_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
        REQUIRE_EQ(cuMemAlloc(&memory, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
