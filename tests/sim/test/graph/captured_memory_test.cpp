// How captures and graphs treat the kinds of memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>

#include "tests/sim/test/support/graph_support.hpp"
#include "tests/sim/test/support/virtual_memory.hpp"

namespace simgpu::test {
namespace {

void begin(CUstream stream) { REQUIRE_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)); }

CUgraph end(CUstream stream) {
    CUgraph graph = nullptr;
    REQUIRE_OK(cuStreamEndCapture(stream, &graph));
    return graph;
}

TEST(CapturedMemory, MappedMemoryNeedsAccessWhenItIsCapturedAndWhenItIsLaunched) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr plain = allocate(kMiB);
        const CUdeviceptr mapped = map(create(on_gpu(0), 2 * kMiB), 2 * kMiB);
        CUstream stream = new_stream();
        begin(stream);
        allow(mapped, 2 * kMiB, 0, CU_MEM_ACCESS_FLAGS_PROT_READ);
        REQUIRE_OK(cuMemcpyDtoDAsync(plain, mapped, kMiB, stream));
        REQUIRE_EQ(cuMemcpyDtoDAsync(mapped, plain, kMiB, stream), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemsetD32Async(mapped, 1, 4, stream), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuStreamWriteValue32(stream, mapped, 1, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuStreamWaitValue32(stream, mapped, 0, CU_STREAM_WAIT_VALUE_EQ));
        allow(mapped, 2 * kMiB, 0);
        REQUIRE_OK(cuMemsetD32Async(mapped, 7, 4, stream));
        REQUIRE_OK(cuStreamWriteValue32(stream, mapped, 0, 0));
        CUgraphExec exec = instantiate(end(stream));
        REQUIRE_OK(cuGraphLaunch(exec, stream));
        REQUIRE_OK(cuStreamSynchronize(stream));
        REQUIRE_EQ(read_word(mapped), 0);
        REQUIRE_EQ(read_word(mapped + 4), 7);
        allow(mapped, 2 * kMiB, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE);
        REQUIRE_EQ(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
        unmap(mapped, 2 * kMiB);
        REQUIRE_EQ(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(CapturedMemory, KernelsMustBeAllowedToTouchTheirFlags) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUdeviceptr mapped = map(create(on_gpu(0), 2 * kMiB), 2 * kMiB);
        allow(mapped, 2 * kMiB, 0, CU_MEM_ACCESS_FLAGS_PROT_READ);
        unsigned int value = 0;
        void* parameters[] = {&mapped, &value};
        REQUIRE_OK(
            cuLaunchKernel(kernel("wait_for_flag"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
        REQUIRE_OK(cuCtxSynchronize());
        cuLaunchKernel(kernel("set_flag"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
        REQUIRE_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(CapturedMemory, CallsThatAllocateOrWaitLoseTheCapture) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr mapped = map(create(on_gpu(0), 2 * kMiB), 2 * kMiB);
        const CUDA_ARRAY3D_DESCRIPTOR extents{64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
        CUarray array = nullptr;
        CUmipmappedArray levels = nullptr;
        REQUIRE_OK(cuArray3DCreate(&array, &extents));
        REQUIRE_OK(cuMipmappedArrayCreate(&levels, &extents, 2));
        unsigned char bytes[16] = {};
        CUDA_MEMCPY3D copy{};
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = bytes;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array;
        copy.WidthInBytes = copy.Height = copy.Depth = 1;
        CUstream stream = new_stream();
        CUarray other = nullptr;
        CUmipmappedArray others = nullptr;
        const std::function<CUresult()> calls[] = {
            [&] { return cuMemUnmap(mapped, 2 * kMiB); },
            [&] { return cuArray3DCreate(&other, &extents); },
            [&] { return cuMipmappedArrayCreate(&others, &extents, 2); },
            [&] { return cuArrayDestroy(array); },
            [&] { return cuMipmappedArrayDestroy(levels); },
            [&] { return cuIpcCloseMemHandle(mapped); },
            [&] { return cuMemcpy3D(&copy); },
            [&] { return cuMemcpyHtoA(array, 0, bytes, sizeof bytes); },
        };
        for (const auto& call : calls) {
            begin(stream);
            REQUIRE_EQ(call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            CUgraph graph = nullptr;
            REQUIRE_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
        // None of them had an effect.
        REQUIRE_OK(cuMemsetD8(mapped, 1, 2 * kMiB));
        REQUIRE_OK(cuArrayDestroy(array));
        REQUIRE_OK(cuMipmappedArrayDestroy(levels));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(CapturedMemory, AnAllocationHasThePropertiesOfThePoolAndNotItsMemory) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        CUmemoryPool plain = nullptr;
        REQUIRE_OK(cuMemPoolCreate(&plain, &properties));
        properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        CUmemoryPool shared = nullptr;
        REQUIRE_OK(cuMemPoolCreate(&shared, &properties));
        int descriptor = -1;
        REQUIRE_OK(cuMemPoolExportToShareableHandle(&descriptor, shared,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        CUmemoryPool imported = nullptr;
        REQUIRE_OK(cuMemPoolImportFromShareableHandle(&imported, as_shareable(descriptor),
                                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        CUstream stream = new_stream();
        begin(stream);
        CUdeviceptr pointer = 0;
        REQUIRE_EQ(cuMemAllocFromPoolAsync(&pointer, 3 * kMiB, imported, stream), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemAllocFromPoolAsync(&pointer, 3 * kMiB, shared, stream), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemAllocFromPoolAsync(&pointer, SIZE_MAX, plain, stream), CUDA_ERROR_OUT_OF_MEMORY);
        REQUIRE_OK(cuMemAllocFromPoolAsync(&pointer, 3 * kMiB, plain, stream));
        CUgraphExec exec = instantiate(end(stream));
        line.say('i');
        line.wait();
        REQUIRE_OK(cuGraphLaunch(exec, stream));
        REQUIRE_OK(cuMemsetD32Async(pointer, 5, 1, stream));
        REQUIRE_OK(cuStreamSynchronize(stream));
        REQUIRE_EQ(read_word(pointer), 5);
        cuuint64_t reserved = 1;
        REQUIRE_OK(cuMemPoolGetAttribute(plain, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
        REQUIRE_EQ(reserved, 0);
        CUipcMemHandle handle{};
        REQUIRE_EQ(cuIpcGetMemHandle(&handle, pointer), CUDA_ERROR_INVALID_VALUE);
        line.say('l');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'i');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 0U);
    child.tell();
    ASSERT_EQ(child.hear(), 'l');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 4 * kMiB);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

TEST(CapturedMemory, AGraphsCodeIsLoadedWhenItIsLaunched) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        unsetenv("CUDA_MODULE_LOADING");
        use_device(0);
        const std::string image(3 * kMiB, 'x');
        CUlibrary library = nullptr;
        CUkernel busy = nullptr;
        REQUIRE_OK(cuLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        REQUIRE_OK(cuLibraryGetKernel(&busy, library, "busy"));
        unsigned long long microseconds = 1;
        void* parameters[] = {&microseconds};
        CUstream stream = new_stream();
        begin(stream);
        REQUIRE_OK(cuLaunchKernel(reinterpret_cast<CUfunction>(busy), 1, 1, 1, 1, 1, 1, 0, stream, parameters,
                                  nullptr));
        CUgraphExec exec = instantiate(end(stream));
        line.say('i');
        line.wait();
        // The rest of the card except one block.
        std::size_t free = 0;
        REQUIRE_OK(cuMemGetInfo(&free, nullptr));
        const CUdeviceptr rest = allocate(free - 2 * kMiB);
        REQUIRE_EQ(cuGraphLaunch(exec, stream), CUDA_ERROR_OUT_OF_MEMORY);
        REQUIRE_OK(cuMemFree(rest));
        REQUIRE_OK(cuGraphLaunch(exec, stream));
        REQUIRE_OK(cuStreamSynchronize(stream));
        line.say('l');
        line.wait();
    });
    const pid_t pid = child.pid();
    ASSERT_EQ(child.hear(), 'i');
    EXPECT_EQ(device.use(pid).module_bytes, 0U);
    child.tell();
    ASSERT_EQ(child.hear(), 'l');
    EXPECT_EQ(device.use(pid).module_bytes, 4 * kMiB);
    EXPECT_EQ(device.use(pid).served, 1'000);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

TEST(CapturedMemory, ABoxOfAnArrayIsOneNode) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUarray array = nullptr;
        const CUDA_ARRAY3D_DESCRIPTOR extents{20, 10, 5, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
        REQUIRE_OK(cuArray3DCreate(&array, &extents));
        std::vector<unsigned char> all(1000);
        std::iota(all.begin(), all.end(), static_cast<unsigned char>(0));
        REQUIRE_OK(cuMemcpyHtoA(array, 0, all.data(), all.size()));
        const CUdeviceptr memory = allocate(4096);
        CUDA_MEMCPY3D box{};
        box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        box.srcArray = array;
        box.srcXInBytes = 5;
        box.srcY = 6;
        box.srcZ = 2;
        box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        box.dstDevice = memory;
        box.WidthInBytes = 4;
        box.Height = 3;
        box.Depth = 2;
        CUstream stream = new_stream();
        begin(stream);
        REQUIRE_OK(cuMemcpy3DAsync(&box, stream));
        CUgraph graph = end(stream);
        // The same as a separate node, into another place, without a gap between rows and slices.
        box.dstDevice = memory + 1024;
        CUgraphNode node = nullptr;
        CUcontext context = nullptr;
        REQUIRE_OK(cuCtxGetCurrent(&context));
        REQUIRE_OK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &box, context));
        std::size_t count = 0;
        REQUIRE_OK(cuGraphGetNodes(graph, nullptr, &count));
        REQUIRE_EQ(count, 2);
        box.srcZ = 4;
        REQUIRE_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &box, context), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuGraphLaunch(instantiate(graph), stream));
        REQUIRE_OK(cuStreamSynchronize(stream));
        std::vector<unsigned char> got(4096);
        REQUIRE_OK(cuMemcpyDtoH(got.data(), memory, got.size()));
        for (std::size_t i = 0; i < 24; ++i) {
            const std::size_t x = i % 4;
            const std::size_t y = i / 4 % 3;
            const std::size_t z = i / 12;
            const unsigned char wanted = all[((z + 2) * 10 + y + 6) * 20 + x + 5];
            REQUIRE_EQ(got[i], wanted);
            REQUIRE_EQ(got[1024 + i], wanted);
        }
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
