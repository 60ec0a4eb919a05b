// A kernel in one stream spins until a kernel that is launched after it in another stream sets a word.
#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"

namespace {

using programs::must;
using programs::say;

void launch(CUfunction kernel, CUstream stream, CUdeviceptr flag, unsigned int value) {
    void* parameters[] = {&flag, &value};
    must(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
}

}  // namespace

int main(int argc, char** argv) {
    unsigned int rounds = 100;
    programs::Options options("Kernels of two streams that wait for each other; prints 'rounds N'");
    options.value("--rounds", rounds);
    if (const auto status = options.parse(argc, argv)) return *status;

    programs::use_device(0);
    CUfunction waits = programs::kernel("wait_for_flag");
    CUfunction sets = programs::kernel("set_flag");
    CUstream first = nullptr;
    CUstream second = nullptr;
    must(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    must(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    CUdeviceptr flag = 0;
    must(cuMemAlloc(&flag, sizeof(unsigned int)), "cuMemAlloc");
    must(cuMemsetD32(flag, 0, 1), "cuMemsetD32");
    for (unsigned int round = 1; round <= rounds; ++round) {
        launch(waits, first, flag, round);
        launch(sets, second, flag, round);
        must(cuStreamSynchronize(first), "cuStreamSynchronize");
    }
    say("rounds", rounds);
    return 0;
}
