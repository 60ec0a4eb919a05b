// Sleeps, wakes up for a little work, and says how long after the request the GPU began with it.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using programs::must;
using programs::say;

/// Reads the GPU's clock by events: it finds the moment on the host that is the moment of an event, as
/// exactly as possible.
class GpuClock {
  public:
    explicit GpuClock(CUstream stream) {
        must(cuEventCreate(&origin_, CU_EVENT_DEFAULT), "cuEventCreate");
        // The shortest of several is used: nothing came between its two readings.
        auto shortest = Clock::duration::max();
        for (int i = 0; i < 50; ++i) {
            CUevent event = nullptr;
            must(cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
            const auto before = Clock::now();
            must(cuEventRecord(event, stream), "cuEventRecord");
            must(cuEventSynchronize(event), "cuEventSynchronize");
            const auto took = Clock::now() - before;
            if (took >= shortest) continue;
            shortest = took;
            at_ = before;
            origin_ = event;
        }
    }
    /// Returns when the event happened; the result is late by the time of one synchronisation at most.
    Clock::time_point time_of(CUevent event) const {
        float ms = 0;
        must(cuEventElapsedTime(&ms, origin_, event), "cuEventElapsedTime");
        return at_ +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
    }

  private:
    CUevent origin_ = nullptr;
    Clock::time_point at_;
};

void launch(CUfunction busy, CUstream stream, unsigned long long us) {
    void* parameters[] = {&us};
    must(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
}

}  // namespace

int main(int argc, char** argv) {
    unsigned int count = 100;
    unsigned long long work_us = 1000;
    double idle_ms = 20;
    unsigned int seed = 1;
    programs::Options options(
        "Wakes up to some work again and again; prints 'ready', then 'began_ns N' for each time");
    options.value("--count", count, "How often");
    options.value("--work-us", work_us, "How much work each time");
    options.value("--idle-ms", idle_ms,
                  "How long it sleeps before, in the middle (exponentially distributed)");
    options.value("--seed", seed);
    if (const auto status = options.parse(argc, argv)) return *status;

    constexpr unsigned long long kFirstUs = 2;
    CUcontext context = programs::use_device(0);
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    CUfunction busy = programs::kernel("busy");
    CUstream stream = nullptr;
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    const GpuClock clock(stream);
    CUevent first = nullptr;
    must(cuEventCreate(&first, CU_EVENT_DEFAULT), "cuEventCreate");
    std::mt19937 chance(seed);
    std::exponential_distribution<double> idle(1 / idle_ms);
    say("ready", "");
    for (unsigned int i = 0; i < count; ++i) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(idle(chance)));
        const auto asked = Clock::now();
        launch(busy, stream, kFirstUs);
        must(cuEventRecord(first, stream), "cuEventRecord");
        launch(busy, stream, work_us);
        must(cuStreamSynchronize(stream), "cuStreamSynchronize");
        const auto began = clock.time_of(first) - std::chrono::microseconds(kFirstUs);
        const auto waited = std::chrono::duration_cast<std::chrono::nanoseconds>(began - asked).count();
        say("began_ns", static_cast<unsigned long long>(std::max<long long>(waited, 0)));
    }
    return 0;
}
