// Kernels on several GPUs that wait for each other, as collectives do.
#include <CLI/CLI.hpp>
#include <vector>

#include "tests/programs/common.hpp"

namespace {

using programs::must;

struct Rank {
    CUcontext context;
    CUfunction kernel;
};

void launch(const Rank& rank, unsigned int gpus) {
    must(cuCtxSetCurrent(rank.context), "cuCtxSetCurrent");
    void* parameters[] = {&gpus};
    must(cuLaunchKernel(rank.kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "cuLaunchKernel");
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app(
        "Rounds of kernels that wait for each other on several GPUs; prints 'rounds N' when all are through");
    unsigned int gpus = 2;
    unsigned long long rounds = 100;
    app.add_option("--gpus", gpus, "Devices 0 .. N-1")->check(CLI::Range(1U, 16U));
    app.add_option("--rounds", rounds);
    CLI11_PARSE(app, argc, argv);

    std::vector<Rank> ranks;
    for (unsigned int device = 0; device < gpus; ++device) {
        CUcontext context = programs::use_device(static_cast<int>(device));
        ranks.push_back({context, programs::kernel("rendezvous")});
    }
    std::puts("ready");
    std::fflush(stdout);
    for (unsigned long long round = 0; round < rounds; ++round) {
        for (const Rank& rank : ranks) launch(rank, gpus);
        for (const Rank& rank : ranks) {
            must(cuCtxSetCurrent(rank.context), "cuCtxSetCurrent");
            must(cuCtxSynchronize(), "cuCtxSynchronize");
        }
    }
    programs::say("rounds", rounds);
    return 0;
}
