// Physical memory that several processes hold, through file descriptors.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "tests/sim/device/file/device_path.hpp"
#include "tests/sim/test/support/mailbox.hpp"
#include "tests/sim/test/support/virtual_memory.hpp"

namespace simgpu::test {
namespace {

int export_memory(CUmemGenericAllocationHandle handle) {
    int descriptor = -1;
    REQUIRE_OK(cuMemExportToShareableHandle(&descriptor, handle, kFd, 0));
    return descriptor;
}

/// Creates 10 MiB whose first word is 42 and sends a descriptor of it.
void create_and_send(const Mailbox& mailbox) {
    use_device(0);
    const auto handle = create(on_gpu(0, kFd), 10 * kMiB);
    REQUIRE_OK(cuMemsetD32(map(handle, 10 * kMiB), 42, 1));
    const int descriptor = export_memory(handle);
    mailbox.send_descriptor(descriptor);
    close(descriptor);
}

void receive_and_map(const Mailbox& mailbox) {
    use_device(0);
    const int descriptor = mailbox.receive_descriptor();
    const auto handle = import_memory(descriptor);
    close(descriptor);
    CUmemAllocationProp properties{};
    REQUIRE_OK(cuMemGetAllocationPropertiesFromHandle(&properties, handle));
    REQUIRE_EQ(properties.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    const CUdeviceptr pointer = map(handle, 10 * kMiB);
    REQUIRE_EQ(read_word(pointer), 42);
}

TEST(ShareableMemory, IsChargedOnceAndGoesToTheNextHolderWhenItsCreatorIsKilled) {
    TestDevice device(1);
    Mailbox mailbox;
    Child creator(doing([&] { create_and_send(mailbox); }));
    ASSERT_EQ(creator.hear(), 'd');
    Child importer(doing([&] { receive_and_map(mailbox); }));
    ASSERT_EQ(importer.hear(), 'd');
    EXPECT_EQ(device.used_bytes(), 210 * kMiB);
    EXPECT_EQ(device.use(creator.pid()).allocated_bytes, 10 * kMiB);
    EXPECT_EQ(device.use(importer.pid()).allocated_bytes, 0U);
    creator.kill();
    EXPECT_EQ(device.used_bytes(), 110 * kMiB);
    EXPECT_EQ(device.use(importer.pid()).allocated_bytes, 10 * kMiB);
    importer.kill();
    EXPECT_EQ(device.used_bytes(), 0U);
}

TEST(ShareableMemory, LivesInADescriptorThatIsUnderWay) {
    TestDevice device(1);
    Mailbox mailbox;
    Child creator(doing([&] { create_and_send(mailbox); }));
    ASSERT_EQ(creator.hear(), 'd');
    creator.kill();
    EXPECT_EQ(device.used_bytes(), 10 * kMiB);
    EXPECT_EQ(device.unowned_bytes(), 10 * kMiB);
    Child importer(doing([&] { receive_and_map(mailbox); }));
    ASSERT_EQ(importer.hear(), 'd');
    EXPECT_EQ(device.unowned_bytes(), 0U);
    EXPECT_EQ(device.use(importer.pid()).allocated_bytes, 10 * kMiB);
    importer.kill();
    EXPECT_EQ(device.used_bytes(), 0U);
}

TEST(ShareableMemory, GoesWithItsLastDescriptor) {
    TestDevice device(1);
    Mailbox mailbox;
    Child creator(doing([&] { create_and_send(mailbox); }));
    ASSERT_EQ(creator.hear(), 'd');
    creator.kill();
    EXPECT_EQ(device.used_bytes(), 10 * kMiB);
    mailbox.close();
    EXPECT_EQ(device.used_bytes(), 0U);
}

TEST(ShareableMemory, OneHolderLettingGoDoesNotTakeItFromTheOther) {
    TestDevice device(1);
    Mailbox mailbox;
    Child child([&](const Child::Line& line) {
        use_device(0);
        const auto handle = create(on_gpu(0, kFd), 10 * kMiB);
        const int descriptor = export_memory(handle);
        const auto second = import_memory(descriptor);
        close(descriptor);
        REQUIRE_OK(cuMemRelease(handle));
        REQUIRE_OK(cuMemsetD32(map(second, 10 * kMiB), 1, 1));
        const auto kept = create(on_gpu(0), 2 * kMiB);
        int none = -1;
        REQUIRE_EQ(cuMemExportToShareableHandle(&none, kept, kFd, 0), CUDA_ERROR_INVALID_VALUE);
        CUmemGenericAllocationHandle garbage = 0;
        REQUIRE_EQ(cuMemImportFromShareableHandle(&garbage, as_shareable(0), kFd), CUDA_ERROR_INVALID_VALUE);
        line.say('s');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 's');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 12 * kMiB);
}

/// What the device file takes of the host's memory or disk.
std::uint64_t bytes_of_device_file() {
    struct stat status {};
    REQUIRE_EQ(stat(device_path().c_str(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

TEST(ShareableMemory, TheHostGetsItsBytesBackFromTheFreedAndFromTheKilled) {
    TestDevice device(1);
    const std::uint64_t before = bytes_of_device_file();
    Child child([&](const Child::Line& line) {
        use_device(0);
        for (int i = 0; i < 20; ++i) {
            const auto handle = create(on_gpu(0), 900 * kMiB);
            const CUdeviceptr pointer = map(handle, 900 * kMiB);
            REQUIRE_EQ(read_word(pointer + 890 * kMiB), 0);
            REQUIRE_OK(cuMemsetD32(pointer + 890 * kMiB, 1, 2 * kMiB));
            if (i == 19) {
                line.say('l');
                line.wait();
            }
            unmap(pointer, 900 * kMiB);
            REQUIRE_OK(cuMemRelease(handle));
        }
    });
    ASSERT_EQ(child.hear(), 'l');
    EXPECT_GE(bytes_of_device_file() - before, 8 * kMiB);
    child.kill();
    EXPECT_EQ(device.used_bytes(), 0U);
    EXPECT_LT(bytes_of_device_file() - before, 8 * kMiB);
}

TEST(ShareableMemory, GoesOnWithTheOldDeviceWhenANewOneTakesItsPlace) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        line.say('b');
        line.wait();
        const auto handle = create(on_gpu(0, kFd), 10 * kMiB);
        REQUIRE_OK(cuMemsetD32(map(handle, 10 * kMiB), 42, 1));
        const auto again = import_memory(export_memory(handle));
        REQUIRE_EQ(read_word(map(again, 10 * kMiB)), 42);
        line.say('m');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'b');
    ASSERT_EQ(Device::create(device_path(), std::vector<Card>(1)), 0);
    child.tell();
    ASSERT_EQ(child.hear(), 'm');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 10 * kMiB);
}

}  // namespace
}  // namespace simgpu::test
