// Keeps a GPU busy with kernels of given lengths, from several threads and streams.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/green.hpp"
#include "tests/programs/support/options.hpp"
#include "tests/programs/support/transfers.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using programs::must;
using programs::say;

struct Settings {
    std::vector<unsigned long long> kernel_us{1000};
    double seconds = 0;
    bool forever = false;
    int device = 0;
    unsigned int threads = 1;
    unsigned int streams = 1;
    std::size_t mib = 0;
    unsigned long long sync_every = 0;
    unsigned long long graph = 0;
    bool coop = false;
    bool by_chance = false;
    unsigned long long change_after = 0;
    unsigned long long pace_us = 0;
    std::size_t fill_mib = 0;
    std::size_t copy_mib = 0;
    std::size_t copies = 1;
    std::string transfer;
    std::string green;
    bool report = false;
    bool one_stream = false;
};

std::atomic<bool> stop{false};
std::atomic<unsigned long long> launches{0};
/// The launches that the GPU is known to have finished.
std::atomic<unsigned long long> finished{0};

/// At most two batches are in flight, so that the program ends soon after it is told to.
unsigned long long batch_size(const Settings& settings) {
    const unsigned long long sum =
        std::accumulate(settings.kernel_us.begin(), settings.kernel_us.end(), 0ULL) /
        settings.kernel_us.size();
    return std::clamp(20'000 / std::max(sum * std::max(settings.graph, 1ULL), 1ULL), 1ULL, 256ULL);
}

/// The memory that memsets and copies work on.
struct Buffers {
    CUdeviceptr to = 0;
    CUdeviceptr from = 0;
};

Buffers allocate_buffers(const Settings& settings) {
    Buffers buffers;
    const std::size_t bytes = std::max(settings.fill_mib, settings.copy_mib) << 20;
    if (bytes == 0) return buffers;
    must(cuMemAlloc(&buffers.to, bytes), "cuMemAlloc");
    must(cuMemAlloc(&buffers.from, bytes), "cuMemAlloc");
    return buffers;
}

void copy(const Settings& settings, const Buffers& buffers, CUstream stream) {
    const std::size_t bytes = settings.copy_mib << 20;
    if (settings.copies == 1)
        return must(cuMemcpyAsync(buffers.to, buffers.from, bytes, stream), "cuMemcpyAsync");
    std::vector<CUdeviceptr> to(settings.copies);
    std::vector<CUdeviceptr> from(settings.copies);
    std::vector<std::size_t> sizes(settings.copies, bytes / settings.copies);
    for (std::size_t i = 0; i < settings.copies; ++i) {
        to[i] = buffers.to + i * sizes[i];
        from[i] = buffers.from + i * sizes[i];
    }
    must(cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), settings.copies, nullptr, nullptr, 0,
                            stream),
         "cuMemcpyBatchAsync");
}

struct Kernel {
    CUfunction function;
    unsigned long long us;
};

/// Each length has a function of its own, as a program's kernels do. Random lengths share one function, so
/// that nobody can tell them apart.
std::vector<Kernel> load_kernels(const Settings& settings) {
    std::vector<Kernel> kernels;
    for (const auto us : settings.kernel_us) {
        const bool same = settings.by_chance && !kernels.empty();
        kernels.push_back({same ? kernels.front().function : programs::kernel("busy"), us});
    }
    return kernels;
}

void launch_kernel(const Settings& settings, const Kernel& kernel, CUstream stream) {
    unsigned long long us = kernel.us;
    void* parameters[] = {&us};
    if (settings.coop) {
        must(cuLaunchCooperativeKernel(kernel.function, 1, 1, 1, 1, 1, 1, 0, stream, parameters),
             "cuLaunchCooperativeKernel");
    } else {
        must(cuLaunchKernel(kernel.function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr),
             "cuLaunchKernel");
    }
}

/// Captures the kernels that `settings.graph` launches would be as one graph.
CUgraphExec capture(const Settings& settings, const std::vector<Kernel>& kernels, CUstream stream) {
    must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
    for (unsigned long long i = 0; i < settings.graph; ++i) {
        launch_kernel(settings, kernels[i % kernels.size()], stream);
    }
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    must(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    must(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
    must(cuGraphDestroy(graph), "cuGraphDestroy");
    return exec;
}

/// A thread's streams, and two events for each.
struct Streams {
    std::vector<CUstream> streams;
    std::vector<CUevent> events;
};

/// Made in the current context. With --green they are a green context's, which then stays current, or not.
Streams make_streams(const Settings& settings) {
    Streams made{std::vector<CUstream>(settings.streams),
                 std::vector<CUevent>(std::size_t{settings.streams} * 2)};
    const CUgreenCtx green = settings.green.empty() ? nullptr : programs::make_green(settings.device);
    if (green != nullptr) must(cuCtxPushCurrent(programs::context_of(green)), "cuCtxPushCurrent");
    for (CUstream& stream : made.streams) {
        must(settings.green == "streams" ? cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0)
                                         : cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
             "a stream");
    }
    if (settings.green == "default" || settings.one_stream) made.streams.assign(settings.streams, nullptr);
    for (CUevent& event : made.events) must(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    CUcontext popped = nullptr;
    if (settings.green == "streams") must(cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
    return made;
}

/// The length of launch `i`, which is the stream's launch number `turn`.
std::size_t choose(const Settings& settings, unsigned long long i, unsigned long long turn,
                   std::minstd_rand& chance) {
    const std::size_t lengths = settings.kernel_us.size();
    if (settings.change_after > 0) return i < settings.change_after ? 0 : lengths - 1;
    return settings.by_chance ? chance() % lengths : turn % lengths;
}

/// Without sleep, which takes longer than the pauses of a program that launches short kernels.
void wait_until(Clock::time_point then) {
    while (Clock::now() < then && !stop) {
    }
}

void burn(const Settings& settings, CUcontext context, const std::vector<Kernel>& kernels) {
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    const auto [streams, events] = make_streams(settings);
    std::vector<CUgraphExec> graphs;
    if (settings.graph > 0) {
        for (CUstream stream : streams) graphs.push_back(capture(settings, kernels, stream));
    }
    const Buffers buffers = allocate_buffers(settings);
    std::optional<programs::Transfers> transfers;
    if (!settings.transfer.empty()) transfers.emplace(settings.transfer, std::size_t{64} << 20);
    const unsigned long long batch = batch_size(settings);
    std::minstd_rand chance(std::random_device{}());
    const auto began = Clock::now();
    for (unsigned long long i = 0; !stop; ++i) {
        const std::size_t s = i % streams.size();
        const unsigned long long turn = i / streams.size();
        if (settings.graph > 0) {
            must(cuGraphLaunch(graphs[s], streams[s]), "cuGraphLaunch");
        } else if (settings.fill_mib > 0) {
            must(cuMemsetD8Async(buffers.to, 1, settings.fill_mib << 20, streams[s]), "cuMemsetD8Async");
        } else if (transfers) {
            transfers->submit(streams[s]);
        } else if (settings.copy_mib > 0) {
            copy(settings, buffers, streams[s]);
        } else {
            launch_kernel(settings, kernels[choose(settings, i, turn, chance)], streams[s]);
        }
        if (settings.pace_us > 0) wait_until(began + (i + 1) * std::chrono::microseconds(settings.pace_us));
        launches.fetch_add(1, std::memory_order_relaxed);
        if (settings.sync_every > 0) {
            if ((i + 1) % settings.sync_every != 0) continue;
            must(cuCtxSynchronize(), "cuCtxSynchronize");
            finished.fetch_add(settings.sync_every, std::memory_order_relaxed);
        } else if ((turn + 1) % batch == 0) {
            const std::size_t parity = (turn + 1) / batch % 2;
            must(cuEventRecord(events[s * 2 + parity], streams[s]), "cuEventRecord");
            must(cuEventSynchronize(events[s * 2 + 1 - parity]), "cuEventSynchronize");
            // This counts the batch before this one; before the first there was none.
            if (turn >= batch) finished.fetch_add(batch, std::memory_order_relaxed);
        }
    }
    for (CUstream stream : streams) must(cuStreamSynchronize(stream), "cuStreamSynchronize");
}

/// Prints one line "finished TIME COUNT": CLOCK_MONOTONIC in nanoseconds, and the launches finished by then.
void report() {
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch());
    say("finished", std::to_string(now.count()) + " " + std::to_string(finished));
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Keeps a GPU busy; prints 'ready' when it begins, and 'launches N', 'kernels N' and 'wall_us N' at "
        "its "
        "end");
    Settings settings;
    options.value("--kernel-us", settings.kernel_us, "Lengths of the kernels, launched in turn")
        .delimiter(',');
    const auto seconds = options.value("--seconds", settings.seconds, "How long");
    options.flag("--forever", settings.forever, "Until SIGTERM").excludes(seconds);
    options.value("--device", settings.device);
    options.value("--threads", settings.threads);
    options.value("--streams", settings.streams, "Streams of each thread");
    options.flag("--one-stream", settings.one_stream,
                 "Launch into the default stream of the context, from all threads");
    options.value("--mib", settings.mib, "Device memory to allocate first");
    options.value("--sync-every", settings.sync_every,
                  "cuCtxSynchronize after that many launches of a thread");
    options.value("--graph", settings.graph, "Launch graphs of that many kernels instead of kernels");
    const auto fill =
        options.value("--fill-mib", settings.fill_mib, "Memsets of that size instead of kernels");
    options.value("--copy-mib", settings.copy_mib, "Copies of that size instead of kernels").excludes(fill);
    options.value("--copies", settings.copies, "Each of them as a batch of so many equal ones").positive();
    options.value("--transfer", settings.transfer, "Transfers of 64 MiB of that kind instead of kernels")
        .one_of(programs::Transfers::kinds());
    options
        .value("--green", settings.green,
               "In a green context of each thread: in its streams, or in its default stream, while it is "
               "current; or in its streams while the primary context is")
        .one_of({"current", "default", "streams"});
    options.value(
        "--change-after", settings.change_after,
        "All have the first length until so many were launched, and then the last; with --by-chance all are "
        "of one function");
    options.value("--pace-us", settings.pace_us,
                  "Launch one kernel in so many microseconds; 0: as soon as possible");
    options.flag("--by-chance", settings.by_chance, "Draw the lengths by chance, all of one function");
    options.flag("--coop", settings.coop, "Launch the kernels cooperatively");
    options.flag("--report", settings.report,
                 "Print 'finished NANOSECONDS LAUNCHES' about twenty times a second");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (settings.seconds <= 0 && !settings.forever) {
        std::fputs("burn: give --seconds or --forever\n", stderr);
        return 2;
    }

    programs::take_stop_signals();
    CUcontext context = programs::use_device(settings.device);
    CUdeviceptr memory = 0;
    if (settings.mib > 0) must(cuMemAlloc(&memory, settings.mib << 20), "cuMemAlloc");
    const std::vector<Kernel> kernels = load_kernels(settings);
    std::puts("ready");
    std::fflush(stdout);
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    for (unsigned int t = 0; t < settings.threads; ++t)
        threads.emplace_back(burn, std::cref(settings), context, std::cref(kernels));
    for (unsigned int look = 1; !programs::should_stop(); ++look) {
        const std::chrono::duration<double> elapsed = Clock::now() - begin;
        if (!settings.forever && elapsed.count() >= settings.seconds) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (settings.report && look % 10 == 0) report();
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    say("launches", launches);
    say("kernels", launches * std::max(settings.graph, 1ULL));
    say("wall_us", static_cast<unsigned long long>(
                       std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count()));
    return 0;
}
