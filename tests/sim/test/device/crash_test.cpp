// The shared state stays consistent at whatever instant a process is killed.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

void hammer(const Child::Line& line) {
    use_device(0);
    CUdeviceptr word = 0;
    REQUIRE_OK(cuMemAlloc(&word, 4));
    line.say('b');
    while (true) {
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAlloc(&pointer, 4 * kMiB));
        for (int i = 0; i < 20; ++i) {
            launch_busy(nullptr, 1);
            cuStreamQuery(nullptr);
        }
        REQUIRE_OK(cuMemFree(pointer));
        CUevent event = nullptr;
        REQUIRE_OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
        REQUIRE_OK(cuStreamWriteValue32(nullptr, word, 1, 0));
        REQUIRE_OK(cuEventRecord(event, nullptr));
        REQUIRE_OK(cuEventDestroy(event));
        CUcontext context = nullptr;
        REQUIRE_OK(cuCtxCreate(&context, nullptr, 0, 0));
        REQUIRE_OK(cuCtxDestroy(context));
    }
}

TEST(Crash, FiveHundredKillsLeaveTheStateConsistent) {
    TestDevice device(1);
    std::mt19937 random(1);
    Nanoseconds now = 0;
    Nanoseconds busy = 0;
    for (int round = 0; round < 500; ++round) {
        Child child(hammer);
        ASSERT_EQ(child.hear(), 'b');
        // This is the length of the process's life, not a wait for something.
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
        child.kill();
        ASSERT_EQ(device.used_bytes(), 0U) << "round " << round;
        Session session(device.device());
        session.advance();
        const Layout& layout = session.layout();
        ASSERT_EQ(layout.journal.used.load(), 0U);
        ASSERT_GE(layout.timeline.now, now);
        ASSERT_GE(layout.timeline.gpus[0].busy.total(), busy);
        now = layout.timeline.now;
        busy = layout.timeline.gpus[0].busy.total();
        Nanoseconds served = 0;
        for (std::uint32_t slot = 0; slot < layout.process_count; ++slot) {
            served += Ledger(session).served(slot, 0);
            ASSERT_EQ(layout.processes[slot].gpus[0].bytes(), 0U);
        }
        for (const MemoryWord& word : layout.timeline.words) ASSERT_EQ(word.taken_by, 0U);
        for (const IpcEvent& event : layout.ipc_events) ASSERT_EQ(event.serial, 0U);
        for (const ClientState& client : layout.timeline.gpus[0].clients) ASSERT_FALSE(client.alive);
        if (round < 256) {
            ASSERT_EQ(served, busy);
        }  // later ones push the oldest out of the list
    }
}

}  // namespace
}  // namespace simgpu::test
