// Events that two processes share.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tests/sim/test/support/graph_support.hpp"

namespace simgpu::test {
namespace {

/// Memory that the test and its children share.
struct Shared {
    CUipcEventHandle handle;
    volatile int first_is_done;
};

Shared* new_shared() {
    return static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

/// Makes the event, sends its handle, and records it after `microseconds` of work when told.
void export_and_record(const Child::Line& line, Shared& shared, unsigned long long microseconds) {
    use_device(0);
    const CUevent event = new_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    REQUIRE_OK(cuIpcGetEventHandle(&shared.handle, event));
    line.say('h');
    line.wait();
    launch_busy(nullptr, microseconds);
    REQUIRE_OK(cuLaunchHostFunc(
        nullptr, [](void* data) { static_cast<Shared*>(data)->first_is_done = 1; }, &shared));
    REQUIRE_OK(cuEventRecord(event, nullptr));
    line.say('r');
    line.wait();
}

TEST(IpcEvent, AStreamWaitsForTheWorkOfAnotherProcess) {
    TestDevice device(1);
    Shared* shared = new_shared();
    Child exporter([&](const Child::Line& line) { export_and_record(line, *shared, 50'000); });
    ASSERT_EQ(exporter.hear(), 'h');
    exporter.tell();
    ASSERT_EQ(exporter.hear(), 'r');
    Child importer([&](const Child::Line&) {
        use_device(0);
        CUevent event = nullptr;
        REQUIRE_OK(cuIpcOpenEventHandle(&event, shared->handle));
        CUstream stream = new_stream();
        REQUIRE_OK(cuStreamWaitEvent(stream, event, 0));
        REQUIRE_OK(cuLaunchHostFunc(
            stream, [](void* data) { REQUIRE_EQ(static_cast<Shared*>(data)->first_is_done, 1); }, shared));
        REQUIRE_OK(cuStreamSynchronize(stream));
        REQUIRE_OK(cuEventSynchronize(event));
        REQUIRE_OK(cuEventQuery(event));
        REQUIRE_OK(cuEventDestroy(event));
    });
    EXPECT_EQ(importer.wait(), 0);
    exporter.tell();
    EXPECT_EQ(exporter.wait(), 0);
}

TEST(IpcEvent, WhatWasNeverRecordedIsNotWaitedFor) {
    TestDevice device(1);
    Shared* shared = new_shared();
    Child exporter([&](const Child::Line& line) { export_and_record(line, *shared, 1); });
    ASSERT_EQ(exporter.hear(), 'h');
    Child importer([&](const Child::Line&) {
        use_device(0);
        CUevent event = nullptr;
        REQUIRE_OK(cuIpcOpenEventHandle(&event, shared->handle));
        REQUIRE_OK(cuEventQuery(event));
        REQUIRE_OK(cuStreamWaitEvent(nullptr, event, 0));
        REQUIRE_OK(cuStreamSynchronize(nullptr));
    });
    EXPECT_EQ(importer.wait(), 0);
}

TEST(IpcEvent, TheDeathOfTheOtherProcessEndsTheWait) {
    TestDevice device(1);
    Shared* shared = new_shared();
    Child exporter([&](const Child::Line& line) { export_and_record(line, *shared, 3'600'000'000); });
    ASSERT_EQ(exporter.hear(), 'h');
    exporter.tell();
    ASSERT_EQ(exporter.hear(), 'r');
    Child importer([&](const Child::Line& line) {
        use_device(0);
        CUevent event = nullptr;
        REQUIRE_OK(cuIpcOpenEventHandle(&event, shared->handle));
        REQUIRE_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
        REQUIRE_OK(cuStreamWaitEvent(nullptr, event, 0));
        line.say('w');
        REQUIRE_OK(cuStreamSynchronize(nullptr));
        REQUIRE_OK(cuEventSynchronize(event));
        REQUIRE_EQ(shared->first_is_done, 0);
    });
    ASSERT_EQ(importer.hear(), 'w');
    exporter.kill();
    EXPECT_EQ(importer.wait(), 0);
}

TEST(IpcEvent, IsSharedOnlyWhereItWasMadeForIt) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUevent event = nullptr;
        REQUIRE_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
        CUipcEventHandle handle{};
        REQUIRE_EQ(cuIpcGetEventHandle(&handle, new_event(CU_EVENT_DISABLE_TIMING)),
                   CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuIpcOpenEventHandle(&event, handle), CUDA_ERROR_INVALID_HANDLE);
        event = new_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
        REQUIRE_OK(cuIpcGetEventHandle(&handle, event));
        CUevent opened = nullptr;
        REQUIRE_EQ(cuIpcOpenEventHandle(&opened, handle), CUDA_ERROR_INVALID_CONTEXT);
        launch_busy(nullptr, 100);
        REQUIRE_OK(cuEventRecord(event, nullptr));
        REQUIRE_OK(cuEventSynchronize(event));
        REQUIRE_OK(cuEventQuery(event));
        REQUIRE_OK(cuEventDestroy(event));
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
