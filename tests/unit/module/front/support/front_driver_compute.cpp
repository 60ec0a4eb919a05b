// The driver's launches, events and captures: one queue of kernels of settable length.
#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "tests/unit/module/front/support/front_driver.hpp"

using namespace fake;

namespace {

struct Event {
    std::atomic<std::int64_t> at_ns{0};
};

std::mutex mutex;
std::array<std::uint64_t, 11> last_launch{};
std::atomic<bool> hold_next_query{false};
std::atomic<bool> query_held{false};
std::mutex record_mutex;  ///< of the next two
std::atomic<bool> hold_next_record{false};
std::atomic<bool> record_held{false};
std::int64_t kernel_ns = 0;
std::int64_t launches = 0;
std::atomic<int> held_after{-1};
std::atomic<int> launches_inside{0};
std::atomic<std::int64_t> records{0};
std::atomic<bool> hold_waits{false};
std::atomic<int> waits_inside{0};
std::atomic<bool> capturing{false};

/// The driver's end, among the exit handlers of its process: no other thread may be in it any more. It waits,
/// so that threads that are still inside show.
struct End {
    std::atomic<bool> come{false};
    End() = default;
    ~End() {
        come = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
};
End end;

}  // namespace

std::atomic<std::int64_t> fake::busy_until_ns{0};

/// How long the GPU has waited for launches between its first kernel and its last one.
static std::atomic<std::int64_t> idle_ns{0};
extern "C" __attribute__((visibility("default"))) std::int64_t fake_idle_ns() { return idle_ns; }
extern "C" __attribute__((visibility("default"))) std::int64_t fake_launches() {
    const std::lock_guard lock(mutex);
    return launches;
}
extern "C" __attribute__((visibility("default"))) std::int64_t fake_records() { return records; }
/// Whether waits stay in the driver; the number of threads in one.
extern "C" __attribute__((visibility("default"))) void fake_hold_waits(int hold) { hold_waits = hold != 0; }
extern "C" __attribute__((visibility("default"))) int fake_waits_inside() { return waits_inside; }
/// The arguments of the last cuLaunchKernel, in their order.
extern "C" __attribute__((visibility("default"))) const std::uint64_t* fake_last_launch() {
    return last_launch.data();
}
extern "C" __attribute__((visibility("default"))) void fake_set_kernel_ns(std::int64_t ns) {
    const std::lock_guard lock(mutex);
    kernel_ns = ns;
}
/// After this many more, launches stay in the driver before they are on their stream; the number of them is
/// counted. -1: none does any more.
extern "C" __attribute__((visibility("default"))) void fake_hold_launches(int after) { held_after = after; }
extern "C" __attribute__((visibility("default"))) int fake_launches_inside() { return launches_inside; }
/// The next query of an event stays in the driver; whether one does; it no longer does.
extern "C" __attribute__((visibility("default"))) void fake_hold_next_query() { hold_next_query = true; }
extern "C" __attribute__((visibility("default"))) int fake_query_held() { return query_held ? 1 : 0; }
extern "C" __attribute__((visibility("default"))) void fake_let_query_go() { query_held = false; }
/// The same for the next recording of an event.
extern "C" __attribute__((visibility("default"))) void fake_hold_next_record() {
    const std::lock_guard lock(record_mutex);
    hold_next_record = true;
}
extern "C" __attribute__((visibility("default"))) int fake_record_held() { return record_held ? 1 : 0; }
extern "C" __attribute__((visibility("default"))) void fake_let_record_go() {
    const std::lock_guard lock(record_mutex);
    hold_next_record = record_held = false;
}

API cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** parameters, void** extra) {
    const auto number = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    if (held_after > 0) {
        --held_after;
    } else {
        ++launches_inside;
        while (held_after == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
        --launches_inside;
    }
    const std::lock_guard lock(mutex);
    ++launches;
    last_launch = {number(function),   gx,           gy, gz, bx, by, bz, shared, number(stream),
                   number(parameters), number(extra)};
    if (!capturing) {
        const auto begins = std::max(busy_until_ns.load(), now_ns());
        if (busy_until_ns != 0) idle_ns += begins - busy_until_ns;
        busy_until_ns = begins + kernel_ns;
    }
    return kSuccess;
}
API cuLaunchCooperativeKernelMultiDevice(const void*, unsigned count, unsigned) {
    return count == 0 || count > 2 ? kInvalidValue : kSuccess;
}
API cuCtxSynchronize() {
    ++waits_inside;
    while (hold_waits) std::this_thread::sleep_for(std::chrono::microseconds(100));
    --waits_inside;
    while (now_ns() < busy_until_ns) continue;
    return kSuccess;
}
API cuStreamDestroy_v2(void*) { return kSuccess; }
API cuEventCreate(Event** event, unsigned) {
    *event = new Event;
    return kSuccess;
}
API cuEventDestroy_v2(Event* event) {
    delete event;
    return kSuccess;
}
API cuEventRecord(Event* event, void*) {
    ++records;
    record_mutex.lock();
    const bool held = hold_next_record.exchange(false);
    if (held) record_held = true;
    record_mutex.unlock();
    while (held && record_held) std::this_thread::sleep_for(std::chrono::microseconds(100));
    const std::lock_guard lock(mutex);
    event->at_ns = std::max(busy_until_ns.load(), now_ns());
    return kSuccess;
}
API cuEventQuery(Event* event) {
    if (end.come) std::abort();
    if (hold_next_query.exchange(false)) {
        query_held = true;
        while (query_held) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return now_ns() >= event->at_ns ? kSuccess : kNotReady;
}
API cuStreamQuery(void*) { return now_ns() >= busy_until_ns ? kSuccess : kNotReady; }
API cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
    *milliseconds = static_cast<float>(static_cast<double>(to->at_ns - from->at_ns) / 1e6);
    return kSuccess;
}
API cuThreadExchangeStreamCaptureMode(int*) { return kSuccess; }
API cuStreamBeginCapture_v2(void*, int) {
    capturing = true;
    return kSuccess;
}
API cuStreamBeginRecaptureToGraph(void* stream, int mode, void*, void*, void*) {
    return cuStreamBeginCapture_v2(stream, mode);
}
/// The host's function takes 100 ms, in which the stream waits.
API cuLaunchHostFunc_v2(void*, void (*)(void*), void*, unsigned) {
    const std::lock_guard lock(mutex);
    busy_until_ns = std::max(busy_until_ns.load(), now_ns()) + 100'000'000;
    return kSuccess;
}
API cuMemsetD8Async(std::uint64_t, unsigned char, std::size_t, void*) { return kSuccess; }
API cuMemcpyDtoDAsync_v2(std::uint64_t, std::uint64_t, std::size_t, void*) { return kSuccess; }
API cuMemcpyAsync(std::uint64_t, std::uint64_t, std::size_t, void*) { return kSuccess; }
API cuStreamEndCapture(void*, void**) {
    capturing = false;
    return kSuccess;
}
API cuStreamIsCapturing(void*, int* status) {
    *status = capturing ? 1 : 0;
    return kSuccess;
}
