// A program that tries to escape: it takes device memory from the driver and bypasses the module.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>

#include "tests/programs/support/announce.hpp"
#include "tests/programs/support/behind.h"
#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"

namespace {

using programs::must;

template <class Function>
Function* behind(Function*, const char* name) {
    static void* const driver = open_behind();
    void* const found = driver == nullptr ? nullptr : dlsym(driver, name);
    if (found == nullptr) {
        programs::say("error", "the driver isn't behind the module");
        std::exit(1);
    }
    return reinterpret_cast<Function*>(found);
}
/// Milliseconds since 1970: so what cgpud logs can be compared with it.
unsigned long long wall_clock_ms() {
    using std::chrono::milliseconds;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(std::chrono::duration_cast<milliseconds>(now).count());
}

// The header names the newest form of each function by a macro.
#define NAME_OF(function) #function
#define BEHIND(function) behind(&(function), NAME_OF(function))

/// Launches kernels of that many microseconds, each after the one before, past the module.
void compute(unsigned long long us) {
    const CUfunction busy = programs::kernel("busy");
    void* parameters[] = {&us};
    programs::say("ready", "");
    while (!programs::should_stop()) {
        must(BEHIND(cuLaunchKernel)(busy, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
             "cuLaunchKernel");
        must(BEHIND(cuCtxSynchronize)(), "cuCtxSynchronize");
    }
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Allocates device memory past the module; prints 'pid N', 'holds_since MILLISECONDS' and 'ready'");
    std::size_t mib = 0;
    bool connected = false;
    bool talk = false;
    int device = 0;
    unsigned long long compute_us = 0;
    options.value("--mib", mib).required();
    options.flag("--connected", connected, "Use the job's first GPU as every program does first");
    options.flag("--talk", talk, "Tell cgpud every 20 ms that memory has moved or is gone");
    options.value("--compute-us", compute_us,
                  "With --connected: then compute, by kernels of that length that bypass the gate");
    options.value("--device", device, "The GPU to take it from, by the driver's number (0)");
    if (const auto status = options.parse(argc, argv)) return *status;

    programs::take_stop_signals();
    // It may be killed as soon as it holds anything.
    programs::say("pid", static_cast<unsigned long long>(getpid()));
    CUdeviceptr pointer = 0;
    if (connected) {
        programs::use_device(0);
        must(cuMemAlloc(&pointer, std::size_t{64} << 20), "cuMemAlloc");
    }
    if (!connected || device != 0) {
        CUcontext context = nullptr;
        must(BEHIND(cuInit)(0), "cuInit");
        must(BEHIND(cuCtxCreate)(&context, nullptr, 0, device), "cuCtxCreate");
    }
    must(BEHIND(cuMemAlloc)(&pointer, mib << 20), "cuMemAlloc");
    programs::say("holds_since", wall_clock_ms());
    if (compute_us > 0) {
        compute(compute_us);
        return 0;
    }
    if (!talk) {
        programs::hold();
        return 0;
    }
    programs::say("ready", "");
    while (!programs::should_stop()) {
        programs::announce();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}
