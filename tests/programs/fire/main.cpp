// Many processes and threads that get and give back device memory at random, killed and stopped at random.
#include <CLI/CLI.hpp>

#include "tests/programs/common.hpp"
#include "tests/programs/fire/master.hpp"

using programs::fire::Way;

int main(int argc, char** argv) {
    CLI::App app(
        "Starts processes that allocate at random, kills them all at random, and notes what they saw");
    programs::fire::Plan plan;
    std::uint64_t limit_mib = 0;
    std::int64_t patience_ms = 0;
    bool no_pools = false;
    bool hold = false;
    app.add_option("--name", plan.name, "Of the processes, as the driver sees them")->required();
    app.add_option("--journal", plan.journal, "File to append the notes to")->required();
    app.add_option("--limit-mib", limit_mib, "What they may have together on each device")->required();
    app.add_option("--patience-ms", patience_ms, "How long a refused request is repeated")->required();
    app.add_option("--device", plan.devices, "A thread uses one of these");
    app.add_option("--processes", plan.processes, "To start, and to kill");
    app.add_option("--at-once", plan.at_once);
    app.add_option("--threads", plan.threads, "Of a process, at most")
        ->check(CLI::Range(1U, programs::fire::kMaxThreads));
    app.add_option("--steps", plan.steps, "After so many at most a process is killed");
    app.add_option("--seed", plan.seed);
    app.add_flag("--no-pools", no_pools, "Only the ways whose memory the driver takes and frees at the call");
    app.add_flag("--hold", hold, "When all are dead print 'ready' and stay until SIGTERM");
    CLI11_PARSE(app, argc, argv);
    if (no_pools) std::erase_if(plan.ways, [](Way way) { return way == Way::async || way == Way::pool; });
    plan.limit_bytes = limit_mib << 20;
    plan.patience_ns = patience_ms * 1'000'000;

    if (!programs::fire::Master(plan).run()) return 1;
    // After the last fork: the workers' signals are their own.
    programs::take_stop_signals();
    if (hold) programs::hold();
    return 0;
}
