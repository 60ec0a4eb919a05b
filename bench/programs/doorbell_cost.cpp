// Cost of doorbells for the slicer thread: its CPU time and how often it goes to sleep, with instances that
// have nothing to do, while some of them ring without pause. Prints a row of a table for each case. usage:
// doorbell_cost SECONDS
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "daemon/app/compute/slicer_thread.hpp"

namespace {

using namespace cgpu;

constexpr double kSecond = 1e9;
constexpr app::Nanos kSlice = 5'000'000;
constexpr app::Nanos kHold = 1'000'000'000;

/// In memory that the ringers' processes share.
template <class Page>
Page* shared_page() {
    void* page = mmap(nullptr, wire::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) std::abort();
    return new (page) Page{};
}

struct Doorbell : app::InstanceDoorbell {
    Doorbell() { page = shared; }
    wire::Doorbell* shared = shared_page<wire::Doorbell>();
};

struct Pages : app::ProcessPages {
    explicit Pages(std::int32_t pid) {
        process = {pid, 1, "boot"};
        orders = shared_page<wire::Orders>();
        reports = shared_page<wire::Reports>();
    }
};

/// As a hostile process does it: `changes` also changes the doorbell's word; otherwise the word is only
/// woken.
pid_t start_ringer(wire::Doorbell& doorbell, bool changes) {
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) {
        if (changes) doorbell.rings.fetch_add(1);
        syscall(SYS_futex, &doorbell.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
}

/// This many GPUs, with this many instances of one process on each.
struct Node {
    Node(int gpus, int instances) {
        std::vector<model::Sighting> sightings;
        for (int i = 0; i < gpus; ++i) {
            model::Uuid::Raw raw{};
            raw.fill(static_cast<std::uint8_t>(i));
            sightings.push_back(
                {{model::Uuid(raw), static_cast<std::uint32_t>(i), "GPU", model::Bytes::from_mib(32000), ""},
                 {.policy = model::Policy::weighted, .max_inst = 25}});
        }
        if (!node.sync_gpus(sightings)) std::abort();
        for (int gpu = 0; gpu < gpus; ++gpu) {
            for (int i = 0; i < instances; ++i) {
                const auto name = "instance-" + std::to_string(gpu) + "-" + std::to_string(i);
                const auto id = model::InstanceId::parse(name).value();
                const model::Quota quota{sightings[static_cast<std::size_t>(gpu)].gpu.uuid,
                                         model::Bytes::from_mib(1000), 1, false, false};
                if (!node.add_instance({id, name, 0, 1, model::Mode::memory_compute, {quota}, std::nullopt}))
                    std::abort();
                ids.push_back(id);
            }
        }
        slicer.update(node);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            doorbells.push_back(std::make_shared<Doorbell>());
            slicer.doorbell_added(ids[i], doorbells.back());
            slicer.process_added(ids[i], std::make_shared<Pages>(static_cast<std::int32_t>(1000 + i)));
        }
    }
    model::Node node;
    app::SlicerThread slicer{{kSlice, kHold}};
    std::vector<model::InstanceId> ids;
    std::vector<std::shared_ptr<Doorbell>> doorbells;
};

double cpu_seconds(const rusage& usage) {
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure(int gpus, int instances, int ringers, bool changes, unsigned seconds) {
    Node node(gpus, instances);
    std::vector<pid_t> children;
    children.reserve(static_cast<std::size_t>(ringers));
    for (int i = 0; i < ringers; ++i)
        children.push_back(start_ringer(
            *node.doorbells[node.doorbells.size() - 1 - static_cast<std::size_t>(i)]->shared, changes));
    usleep(300'000);
    rusage before{};
    rusage after{};
    getrusage(RUSAGE_SELF, &before);
    const auto began = app::monotonic_now();
    sleep(seconds);
    getrusage(RUSAGE_SELF, &after);
    const auto took = static_cast<double>(app::monotonic_now() - began) / kSecond;
    for (const auto child : children) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    std::printf("| %d | %d | %d %s | %.2f | %.1f |\n", gpus, gpus * instances, ringers,
                changes ? "ring" : "wake only", 100 * (cpu_seconds(after) - cpu_seconds(before)) / took,
                static_cast<double>(after.ru_nvcsw - before.ru_nvcsw) / took);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const auto seconds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 3U;
    std::puts(
        "| GPUs | instances | who rings without pause | CPU, % of a core | sleeps a second "
        "|\n|---|---|---|---|---|");
    measure(1, 2, 0, true, seconds);
    measure(1, 2, 1, true, seconds);
    measure(1, 2, 1, false, seconds);
    measure(1, 25, 1, true, seconds);
    measure(1, 25, 4, true, seconds);
    measure(8, 25, 0, true, seconds);
    measure(8, 25, 1, true, seconds);
    measure(16, 25, 0, true, seconds);
    measure(16, 25, 1, true, seconds);
}
