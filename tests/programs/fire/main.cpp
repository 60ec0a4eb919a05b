// Many processes and threads allocate and free device memory at random. They are killed and stopped at
// random.
#include <cstdint>
#include <vector>

#include "tests/programs/fire/master.hpp"
#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"

using programs::fire::Way;

int main(int argc, char** argv) {
    programs::Options options(
        "Starts processes that allocate at random, kills them all at random, and notes what they saw");
    programs::fire::Plan plan;
    std::uint64_t limit_mib = 0;
    std::int64_t patience_ms = 0;
    bool no_pools = false;
    bool hold = false;
    options.value("--name", plan.name, "Of the processes, as the driver sees them").required();
    options.value("--journal", plan.journal, "File to append the notes to").required();
    options.value("--limit-mib", limit_mib, "What they may have together on each device").required();
    options.value("--patience-ms", patience_ms, "How long a refused request is repeated").required();
    options.value("--device", plan.devices, "A thread uses one of these");
    options.value("--processes", plan.processes, "To start, and to kill");
    options.value("--at-once", plan.at_once);
    options.value("--threads", plan.threads, "Of a process, at most").range(1, programs::fire::kMaxThreads);
    options.value("--steps", plan.steps, "After so many at most a process is killed");
    options.value("--seed", plan.seed);
    options.flag("--no-pools", no_pools, "Only the ways whose memory the driver takes and frees at the call");
    options.flag("--hold", hold, "When all are dead print 'ready' and stay until SIGTERM");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (no_pools) std::erase_if(plan.ways, [](Way way) { return way == Way::async || way == Way::pool; });
    plan.limit_bytes = limit_mib << 20;
    plan.patience_ns = patience_ms * 1'000'000;

    if (!programs::fire::Master(plan).run()) return 1;
    // This comes after the last fork: the workers handle their signals themselves.
    programs::take_stop_signals();
    if (hold) programs::hold();
    return 0;
}
