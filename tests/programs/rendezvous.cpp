// Kernels on several GPUs wait for each other, as collectives do.
#include <cstddef>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"

namespace {

using programs::must;

struct Work {
    unsigned int gpus = 2;
    unsigned long long rounds = 100;
    unsigned long long kernel_us = 0;
    unsigned long long ahead = 1;
    unsigned long long group = 0;
};

class Rank {
  public:
    Rank(unsigned int device, bool of_group)
        : context_(programs::use_device(static_cast<int>(device))),
          meet_(programs::kernel(of_group ? "group_rendezvous" : "rendezvous")),
          busy_(programs::kernel("busy")) {}

    void launch(const Work& work) const {
        must(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
        auto us = work.kernel_us;
        void* length[] = {&us};
        if (us > 0)
            must(cuLaunchKernel(busy_, 1, 1, 1, 1, 1, 1, 0, nullptr, length, nullptr), "cuLaunchKernel");
        auto gpus = work.gpus;
        auto group = work.group;
        void* parameters[] = {&gpus, &group};
        must(cuLaunchKernel(meet_, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "cuLaunchKernel");
    }

    void wait() const {
        must(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
        must(cuCtxSynchronize(), "cuCtxSynchronize");
    }

  private:
    CUcontext context_;
    CUfunction meet_;
    CUfunction busy_;
};

void run(const std::vector<const Rank*>& ranks, const Work& work) {
    for (unsigned long long round = 1; round <= work.rounds; ++round) {
        for (const Rank* rank : ranks) rank->launch(work);
        if (round % work.ahead != 0 && round != work.rounds) continue;
        for (const Rank* rank : ranks) rank->wait();
    }
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Rounds of kernels that wait for each other on several GPUs; prints 'rounds N' when all are through");
    Work work;
    bool threads = false;
    std::optional<unsigned int> rank;
    options.value("--gpus", work.gpus, "Devices 0 .. N-1").range(1, 16);
    options.value("--rounds", work.rounds);
    options.value("--kernel-us", work.kernel_us, "Before each meeting a kernel of this length");
    options.value("--ahead", work.ahead, "Rounds that are launched before they are waited for")
        .range(1, 1'000'000);
    options.flag("--threads", threads, "A thread for each GPU");
    const auto group =
        options.value("--group", work.group, "A number other than 0, the same for a job's processes");
    options.value("--rank", rank, "Only this device; the others are other processes' of the group")
        .needs(group);
    if (const auto status = options.parse(argc, argv)) return *status;

    std::vector<Rank> ranks;
    for (unsigned int device = rank.value_or(0); device < rank.value_or(work.gpus - 1) + 1; ++device)
        ranks.emplace_back(device, work.group != 0);
    std::puts("ready");
    std::fflush(stdout);
    std::vector<std::vector<const Rank*>> launchers(threads ? ranks.size() : 1);
    for (std::size_t i = 0; i < ranks.size(); ++i) launchers[threads ? i : 0].push_back(&ranks[i]);
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < launchers.size(); ++i)
        others.emplace_back([&, i] { run(launchers[i], work); });
    run(launchers[0], work);
    for (auto& thread : others) thread.join();
    programs::say("rounds", work.rounds);
    return 0;
}
