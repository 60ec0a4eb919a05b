// cuIpcGetMemHandle and cuIpcOpenMemHandle between processes.
#include <gtest/gtest.h>

#include "tests/sim/test/support/mailbox.hpp"
#include "tests/sim/test/support/virtual_memory.hpp"

namespace simgpu::test {
namespace {

constexpr unsigned int kLazyPeers = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

CUdeviceptr open_handle(const CUipcMemHandle& handle) {
    CUdeviceptr pointer = 0;
    REQUIRE_OK(cuIpcOpenMemHandle(&pointer, handle, kLazyPeers));
    return pointer;
}

CUipcMemHandle handle_of(CUdeviceptr pointer) {
    CUipcMemHandle handle{};
    REQUIRE_OK(cuIpcGetMemHandle(&handle, pointer));
    return handle;
}

TEST(Ipc, TheOpenerSeesTheSameBytesAndTheExporterIsCharged) {
    TestDevice device(1);
    Mailbox mailbox;
    Child exporter([&](const Child::Line& line) {
        use_device(0);
        const CUdeviceptr small = allocate(4096);
        const CUdeviceptr large = allocate(5 * kMiB);
        // What was written before the handle was taken counts, too.
        REQUIRE_OK(cuMemsetD32(small, 1, 1024));
        REQUIRE_OK(cuMemsetD32(large + 4 * kMiB, 2, 1024));
        mailbox.send(handle_of(small));
        mailbox.send(handle_of(large));
        line.say('e');
        line.wait();
        REQUIRE_EQ(read_word(small), 10);
        REQUIRE_EQ(read_word(large + 4 * kMiB), 20);
        REQUIRE_OK(cuMemFree(small));
        REQUIRE_OK(cuMemFree(large));
        line.say('f');
        line.wait();
    });
    ASSERT_EQ(exporter.hear(), 'e');
    Child importer([&](const Child::Line& line) {
        use_device(0);
        const auto small_handle = mailbox.receive<CUipcMemHandle>();
        const auto large_handle = mailbox.receive<CUipcMemHandle>();
        const CUdeviceptr small = open_handle(small_handle);
        const CUdeviceptr large = open_handle(large_handle);
        REQUIRE_EQ(open_handle(small_handle), small);
        REQUIRE_EQ(read_word(small), 1);
        REQUIRE_EQ(read_word(large + 4 * kMiB), 2);
        REQUIRE_OK(cuMemsetD32(small, 10, 1));
        REQUIRE_OK(cuMemsetD32(large + 4 * kMiB, 20, 1));
        REQUIRE_EQ(cuMemFree(large), CUDA_ERROR_INVALID_VALUE);
        line.say('o');
        line.wait();
        REQUIRE_OK(cuIpcCloseMemHandle(small));
        REQUIRE_EQ(read_word(small), 10);
        REQUIRE_OK(cuIpcCloseMemHandle(small));
        REQUIRE_EQ(cuIpcCloseMemHandle(small), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuIpcCloseMemHandle(large));
        line.say('c');
        line.wait();
    });
    ASSERT_EQ(importer.hear(), 'o');
    EXPECT_EQ(device.use(exporter.pid()).allocated_bytes, 8 * kMiB);
    EXPECT_EQ(device.use(importer.pid()).allocated_bytes, 0U);
    exporter.tell();
    ASSERT_EQ(exporter.hear(), 'f');
    // It was freed there and is open here: it stays on the card, charged to the process that has it open.
    EXPECT_EQ(device.use(exporter.pid()).allocated_bytes, 0U);
    EXPECT_EQ(device.use(importer.pid()).allocated_bytes, 8 * kMiB);
    importer.tell();
    ASSERT_EQ(importer.hear(), 'c');
    EXPECT_EQ(device.used_bytes(), 200 * kMiB);
}

TEST(Ipc, BothKilledNothingIsLeft) {
    TestDevice device(1);
    Mailbox mailbox;
    Child exporter(doing([&] {
        use_device(0);
        mailbox.send(handle_of(allocate(300 * kMiB)));
    }));
    ASSERT_EQ(exporter.hear(), 'd');
    Child importer(doing([&] {
        use_device(0);
        open_handle(mailbox.receive<CUipcMemHandle>());
    }));
    ASSERT_EQ(importer.hear(), 'd');
    exporter.kill();
    EXPECT_EQ(device.used_bytes(), 400 * kMiB);
    importer.kill();
    EXPECT_EQ(device.used_bytes(), 0U);
}

TEST(Ipc, WhatCanNotBeSharedThisWayIsRefused) {
    TestDevice device(1);
    Mailbox mailbox;
    Child exporter([&](const Child::Line& line) {
        use_device(0);
        CUipcMemHandle handle{};
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAllocAsync(&pointer, 4096, nullptr));
        REQUIRE_EQ(cuIpcGetMemHandle(&handle, pointer), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuMemAllocManaged(&pointer, 4096, CU_MEM_ATTACH_GLOBAL));
        REQUIRE_EQ(cuIpcGetMemHandle(&handle, pointer), CUDA_ERROR_INVALID_VALUE);
        pointer = map(create(on_gpu(0), 2 * kMiB), 2 * kMiB);
        REQUIRE_EQ(cuIpcGetMemHandle(&handle, pointer), CUDA_ERROR_INVALID_VALUE);
        pointer = allocate(2 * kMiB);
        handle = handle_of(pointer);
        CUdeviceptr again = 0;
        REQUIRE_EQ(cuIpcOpenMemHandle(&again, handle, kLazyPeers), CUDA_ERROR_INVALID_CONTEXT);
        mailbox.send(handle);
        REQUIRE_OK(cuMemFree(pointer));
        line.say('f');
        line.wait();
    });
    ASSERT_EQ(exporter.hear(), 'f');
    Child importer([&](const Child::Line&) {
        use_device(0);
        CUdeviceptr pointer = 0;
        REQUIRE_EQ(cuIpcOpenMemHandle(&pointer, mailbox.receive<CUipcMemHandle>(), kLazyPeers),
                   CUDA_ERROR_INVALID_VALUE);
    });
    EXPECT_EQ(importer.wait(), 0);
}

TEST(ExternalMemory, HoldsWhatItsDescriptorWasExportedFrom) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        const auto handle = create(on_gpu(0, kFd), 8 * kMiB);
        const CUdeviceptr mapped = map(handle, 8 * kMiB);
        REQUIRE_OK(cuMemsetD32(mapped + kMiB, 5, 1));
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC description{};
        description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
        description.size = 8 * kMiB;
        REQUIRE_OK(cuMemExportToShareableHandle(&description.handle.fd, handle, kFd, 0));
        CUexternalMemory external = nullptr;
        REQUIRE_OK(cuImportExternalMemory(&external, &description));
        unmap(mapped, 8 * kMiB);
        REQUIRE_OK(cuMemRelease(handle));
        CUdeviceptr buffer = 0;
        const CUDA_EXTERNAL_MEMORY_BUFFER_DESC part{kMiB, 2 * kMiB, 0, {}};
        REQUIRE_OK(cuExternalMemoryGetMappedBuffer(&buffer, external, &part));
        REQUIRE_EQ(read_word(buffer), 5);
        const CUDA_EXTERNAL_MEMORY_BUFFER_DESC outside{7 * kMiB, 2 * kMiB, 0, {}};
        CUdeviceptr none = 0;
        REQUIRE_EQ(cuExternalMemoryGetMappedBuffer(&none, external, &outside), CUDA_ERROR_INVALID_VALUE);
        CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image{};
        image.offset = kMiB;
        image.arrayDesc = {128, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
        image.numLevels = 1;
        CUmipmappedArray array = nullptr;
        CUarray level = nullptr;
        REQUIRE_OK(cuExternalMemoryGetMappedMipmappedArray(&array, external, &image));
        REQUIRE_OK(cuMipmappedArrayGetLevel(&level, array, 0));
        unsigned char byte = 0;
        REQUIRE_OK(cuMemcpyAtoH(&byte, level, 0, 1));
        REQUIRE_EQ(byte, 5);
        REQUIRE_OK(cuDestroyExternalMemory(external));
        line.say('d');
        line.wait();
        REQUIRE_OK(cuMipmappedArrayDestroy(array));
        REQUIRE_OK(cuMemFree(buffer));
        line.say('f');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'd');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 8 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 'f');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 0U);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
