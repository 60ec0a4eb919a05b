// A program that means to break out: it takes device memory from the driver behind the module.
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

#include "tests/programs/behind.h"
#include "tests/programs/common.hpp"
#include "tests/programs/options.hpp"

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
// The header names the newest form of each by a macro.
#define NAME_OF(function) #function
#define BEHIND(function) behind(&(function), NAME_OF(function))

}  // namespace

int main(int argc, char** argv) {
    programs::Options options("Allocates device memory past the module, and prints 'ready'");
    std::size_t mib = 0;
    bool connected = false;
    options.value("--mib", mib).required();
    options.flag("--connected", connected, "Use the GPU as every program does first");
    if (const auto status = options.parse(argc, argv)) return *status;

    programs::take_stop_signals();
    CUdeviceptr pointer = 0;
    if (connected) {
        programs::use_device(0);
        must(cuMemAlloc(&pointer, std::size_t{64} << 20), "cuMemAlloc");
    } else {
        CUcontext context = nullptr;
        must(BEHIND(cuInit)(0), "cuInit");
        must(BEHIND(cuCtxCreate)(&context, nullptr, 0, 0), "cuCtxCreate");
    }
    must(BEHIND(cuMemAlloc)(&pointer, mib << 20), "cuMemAlloc");
    programs::hold();
}
