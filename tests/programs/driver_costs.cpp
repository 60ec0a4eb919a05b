// Measures what the driver's calls cost that the module makes beside a program's own: events around batches
// of launches, and the questions about them. Meant for a real driver: the simulator's calls cost nothing like
// them.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"
#include "tests/sim/include/simgpu/cuda_graph.h"

namespace {

using Clock = std::chrono::steady_clock;
using programs::must;
using programs::say;

constexpr int kRounds = 15;

double ns_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// Prints the median of the rounds, in nanoseconds for each of `count`.
void measure(const std::string& name, int count, const std::function<void()>& before,
             const std::function<void(int)>& body, const std::function<void()>& end_timed) {
    std::vector<double> rounds;
    for (int round = 0; round < kRounds; ++round) {
        before();
        const auto begin = Clock::now();
        for (int i = 0; i < count; ++i) body(i);
        end_timed();
        rounds.push_back(ns_since(begin) / count);
    }
    std::sort(rounds.begin(), rounds.end());
    say("cost", name + " " + std::to_string(static_cast<long>(rounds[rounds.size() / 2])) + " (" +
                    std::to_string(static_cast<long>(rounds.front())) + " to " +
                    std::to_string(static_cast<long>(rounds.back())) + ")");
}

class Costs {
  public:
    explicit Costs(CUcontext context) : context_(context), kernel_(programs::kernel("busy")) {
        must(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        for (CUevent& event : timed_) must(cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
        for (CUevent& event : untimed_) must(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
        launch(0);
        record(timed_, 0);
        record(timed_, 1);
        finish();
    }

    /// Calls in the time of the calling thread alone: the GPU is idle, and its queue doesn't fill up.
    void calls() {
        constexpr int kCount = 200;
        const auto idle = [&] { finish(); };
        const auto nothing = [] {};
        float milliseconds = 0;
        const auto call = [&](const std::string& name, const std::function<void(int)>& body) {
            measure("call " + name, kCount, idle, body, nothing);
        };
        call("cuLaunchKernel", [&](int) { launch(0); });
        call("cuEventRecord-timed", [&](int i) { record(timed_, i); });
        call("cuEventRecord-untimed", [&](int i) { record(untimed_, i); });
        finish();
        call("cuEventQuery", [&](int i) { cuEventQuery(timed_[i % kEvents]); });
        call("cuEventElapsedTime",
             [&](int i) { cuEventElapsedTime(&milliseconds, timed_[i % kEvents], timed_[1]); });
        call("cuEventCreate+Destroy", [&](int) {
            CUevent event = nullptr;
            must(cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
            cuEventDestroy(event);
        });
        CUcontext current = nullptr;
        call("cuCtxGetCurrent", [&](int) { cuCtxGetCurrent(&current); });
        call("cuCtxPushCurrent+Pop", [&](int) {
            cuCtxPushCurrent(context_);
            cuCtxPopCurrent(&current);
        });
        CUstreamCaptureStatus status{};
        call("cuStreamIsCapturing", [&](int) { cuStreamIsCapturing(stream_, &status); });
        call("cuThreadExchangeStreamCaptureMode", [&](int) {
            CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
            cuThreadExchangeStreamCaptureMode(&mode);
        });
        call("cuStreamSynchronize", [&](int) { finish(); });
        call("cuMemGetInfo", [&](int) {
            std::size_t free = 0;
            std::size_t total = 0;
            cuMemGetInfo(&free, &total);
        });
        call("clock_gettime", [&](int) { static_cast<void>(Clock::now()); });
        launch(100'000);
        record(untimed_, 0);
        measure(
            "call cuEventQuery-not-ready", kCount, nothing, [&](int) { cuEventQuery(untimed_[0]); }, nothing);
    }

    /// What the GPU and the program take together, with a pair of timed events around every so many launches.
    void pairs() {
        constexpr int kCount = 20'480;
        for (const int every : {0, 1024, 256, 64, 16, 4, 1}) {
            measure(
                "launches pair-every-" + std::to_string(every), kCount, [&] { finish(); },
                [&](int i) {
                    if (every != 0 && i % every == 0) record(timed_, i / every * 2);
                    launch(0);
                    if (every != 0 && i % every == every - 1) record(timed_, i / every * 2 + 1);
                },
                [&] { finish(); });
        }
    }

    /// A launch that is waited for, as in a program that needs each result.
    void waits() {
        constexpr int kCount = 2000;
        const auto wait = [&](const std::string& name, const std::function<void(int)>& body) {
            measure(
                "waited " + name, kCount, [&] { finish(); }, body, [] {});
        };
        float milliseconds = 0;
        wait("plain", [&](int) {
            launch(0);
            finish();
        });
        wait("start-event", [&](int i) {
            record(timed_, i);
            launch(0);
            finish();
        });
        wait("end-event", [&](int i) {
            launch(0);
            record(timed_, i);
            finish();
        });
        wait("both-events", [&](int i) {
            record(timed_, 2 * i);
            launch(0);
            record(timed_, 2 * i + 1);
            finish();
        });
        wait("both-events-and-read", [&](int i) {
            record(timed_, 2 * i);
            launch(0);
            record(timed_, 2 * i + 1);
            finish();
            cuEventQuery(timed_[(2 * i + 1) % kEvents]);
            cuEventElapsedTime(&milliseconds, timed_[2 * i % kEvents], timed_[(2 * i + 1) % kEvents]);
            cuEventElapsedTime(&milliseconds, timed_[1], timed_[2 * i % kEvents]);
        });
    }

    /// What events say of a kernel that does nothing, and of ones of known length.
    void lengths() {
        for (const unsigned long long us : {0ULL, 10ULL, 100ULL, 1000ULL}) {
            std::vector<float> seen;
            for (int i = 0; i < 101; ++i) {
                record(timed_, 0);
                launch(us);
                record(timed_, 1);
                finish();
                float milliseconds = 0;
                must(cuEventElapsedTime(&milliseconds, timed_[0], timed_[1]), "cuEventElapsedTime");
                seen.push_back(milliseconds);
            }
            std::sort(seen.begin(), seen.end());
            say("length", std::to_string(us) + " us of work: " + std::to_string(seen[50] * 1000) +
                              " us by events (" + std::to_string(seen.front() * 1000) + " to " +
                              std::to_string(seen.back() * 1000) + ")");
        }
    }

  private:
    static constexpr int kEvents = 64;

    void launch(unsigned long long us) {
        void* parameters[] = {&us};
        must(cuLaunchKernel(kernel_, 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr), "cuLaunchKernel");
    }
    void record(CUevent* events, int which) {
        must(cuEventRecord(events[which % kEvents], stream_), "cuEventRecord");
    }
    void finish() { must(cuStreamSynchronize(stream_), "cuStreamSynchronize"); }

    CUcontext context_;
    CUfunction kernel_;
    CUstream stream_ = nullptr;
    CUevent timed_[kEvents] = {};
    CUevent untimed_[kEvents] = {};
};

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Prints 'cost NAME NANOSECONDS (LEAST to MOST)' for calls of the driver that the module makes, and "
        "'length …': what events say of a kernel");
    int device = 0;
    options.value("--device", device);
    if (const auto status = options.parse(argc, argv)) return *status;

    Costs costs(programs::use_device(device));
    costs.calls();
    costs.pairs();
    costs.waits();
    costs.lengths();
    return 0;
}
