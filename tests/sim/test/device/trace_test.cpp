// The trace shows what was held at every instant: each change, none twice, none that was undone.
#include "tests/sim/device/ledger/trace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "tests/sim/test/support/support.hpp"
#include "tests/sim/test/support/virtual_memory.hpp"

namespace simgpu::test {
namespace {

void start(Device& device) {
    Session session(device);
    Trace(session).start();
}

std::vector<TraceRecord> records(Device& device) {
    std::vector<TraceRecord> all;
    EXPECT_TRUE(Trace::read(device, [&](const TraceRecord& record) { all.push_back(record); }));
    return all;
}

/// Returns what is held according to the last record of each process.
std::uint64_t held_in_the_end(const std::vector<TraceRecord>& all) {
    std::map<std::uint64_t, std::uint64_t> held;
    for (const TraceRecord& record : all) {
        held[record.serial] = record.context_bytes + record.module_bytes + record.allocated_bytes;
    }
    std::uint64_t sum = 0;
    for (const auto& [serial, bytes] : held) sum += bytes;
    return sum;
}

TEST(Trace, HasALineForEachChange) {
    TestDevice device(1);
    start(device.device());
    Child child([](const Child::Line& line) {
        use_device(0);
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAlloc(&pointer, 6 * kMiB));
        REQUIRE_OK(cuMemFree(pointer));
        line.say('d');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'd');
    const pid_t pid = child.pid();
    child.kill();
    EXPECT_EQ(device.used_bytes(), 0U);
    const auto all = records(device.device());
    ASSERT_EQ(all.size(), 4U);
    const std::vector<std::uint64_t> contexts = {100 * kMiB, 100 * kMiB, 100 * kMiB, 0};
    const std::vector<std::uint64_t> allocated = {0, 6 * kMiB, 0, 0};
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].context_bytes, contexts[i]);
        EXPECT_EQ(all[i].allocated_bytes, allocated[i]);
        EXPECT_EQ(all[i].pid, pid);
        EXPECT_EQ(all[i].serial, all[0].serial);
        EXPECT_GE(all[i].time, all[i == 0 ? 0 : i - 1].time);
    }
}

TEST(Trace, IsOffUntilItIsStartedAndBeginsWithWhatIsHeld) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAlloc(&pointer, 6 * kMiB));
        line.say('d');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'd');
    EXPECT_TRUE(records(device.device()).empty());
    start(device.device());
    const auto all = records(device.device());
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(held_in_the_end(all), 106 * kMiB);
    start(device.device());
    EXPECT_EQ(records(device.device()).size(), 1U);
}

TEST(Trace, SharedMemoryIsHeldByOneAtATime) {
    TestDevice device(1);
    start(device.device());
    Child child([](const Child::Line& line) {
        use_device(0);
        const CUmemGenericAllocationHandle handle = create(on_gpu(0, kFd), 4 * kMiB);
        int descriptor = -1;
        REQUIRE_OK(cuMemExportToShareableHandle(&descriptor, handle, kFd, 0));
        REQUIRE_OK(cuMemRelease(handle));
        line.say('d');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'd');
    const auto all = records(device.device());
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.back().serial, 0U);
    EXPECT_EQ(all.back().allocated_bytes, 4 * kMiB);
    EXPECT_EQ(held_in_the_end(all), 104 * kMiB);
}

TEST(Trace, MappedMemoryGoesFromItsHolderToNobodyElse) {
    TestDevice device(1);
    start(device.device());
    Child child([](const Child::Line& line) {
        use_device(0);
        const CUmemGenericAllocationHandle handle = create(on_gpu(0), 4 * kMiB);
        REQUIRE_OK(cuMemRelease(handle));
        line.say('d');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'd');
    for (const TraceRecord& record : records(device.device())) EXPECT_NE(record.serial, 0U);
}

TEST(Trace, TellsWhenTheDeviceCouldNotBeHad) {
    TestDevice device(1);
    start(device.device());
    Child child([](const Child::Line& line) {
        use_device(0);
        line.say('r');
        line.wait();
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAlloc(&pointer, 4 * kMiB));
        line.say('d');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'r');
    Nanoseconds locked = 0;
    {
        const Session session(device.device());
        locked = clock_now();
        child.tell();
        // This is how long the lock is held, not a wait for something.
        std::this_thread::sleep_for(std::chrono::nanoseconds(2 * kLongLocked));
    }
    ASSERT_EQ(child.hear(), 'd');
    const auto all = records(device.device());
    ASSERT_GE(all.size(), 2U);
    const TraceRecord& record = all[all.size() - 2];
    EXPECT_EQ(record.gpu, kTraceLocked);
    EXPECT_GT(record.allocated_bytes, static_cast<std::uint64_t>(kLongLocked));
    EXPECT_GE(record.time - static_cast<Nanoseconds>(record.allocated_bytes), locked);
}

TEST(Trace, AgreesWithTheLedgerWheneverAProcessIsKilled) {
    TestDevice device(1);
    start(device.device());
    for (int round = 0; round < 100; ++round) {
        Child child([](const Child::Line& line) {
            use_device(0);
            line.say('b');
            while (true) {
                CUdeviceptr pointer = 0;
                REQUIRE_OK(cuMemAlloc(&pointer, 4 * kMiB));
                REQUIRE_OK(cuMemFree(pointer));
            }
        });
        ASSERT_EQ(child.hear(), 'b');
        // This is the length of the process's life, not a wait for something.
        std::this_thread::sleep_for(std::chrono::microseconds(round * 17));
        child.kill();
        ASSERT_EQ(device.used_bytes(), 0U);
        ASSERT_EQ(held_in_the_end(records(device.device())), 0U) << "round " << round;
    }
}

}  // namespace
}  // namespace simgpu::test
