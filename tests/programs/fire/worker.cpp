#include "tests/programs/fire/worker.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <map>
#include <thread>
#include <vector>

#include "tests/programs/fire/chance.hpp"
#include "tests/programs/fire/holding.hpp"

namespace programs::fire {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;
constexpr std::int64_t kMoment = kMillisecond;
constexpr std::int64_t kLongestRest = kMillisecond / 2;

/// One thread of a worker.
class Hand {
  public:
    Hand(const Plan& plan, const Journal& journal, unsigned seed, Desk& desk, Desk::Thread& own)
        : plan_(plan), journal_(journal), chance_(seed), desk_(desk), own_(own) {}

    void begin(int device, CUcontext context) {
        place_.device = own_.device = device;
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
        need(cuCtxSetCurrent(context), "cuCtxSetCurrent");
        need(cuStreamCreate(&place_.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        need(cuMemPoolCreate(&place_.pool, &properties), "cuMemPoolCreate");
    }

    [[noreturn]] void live() {
        while (true) {
            const std::uint64_t what = chance_.below(100);
            if (what < 55) {
                take();
            } else if (what < 90) {
                free_one();
            } else if (what < 92) {
                free_half();
            } else if (what < 96) {
                need(cuMemPoolTrimTo(place_.pool, 0), "cuMemPoolTrimTo");
            } else {
                need(cuStreamSynchronize(place_.stream), "cuStreamSynchronize");
            }
            ++desk_.steps;
            if (chance_.one_in(2)) sleep_ns(chance_.time_below(kLongestRest));
        }
    }

  private:
    /// Draws small sizes, middling ones, and now and then a large part of the limit.
    std::uint64_t some_bytes() {
        const std::uint64_t kind = chance_.below(10);
        if (kind < 3) return 1 + chance_.below(2 * kMiB);
        if (kind < 8) return 1 + chance_.below(64 * kMiB);
        return 1 + chance_.below(plan_.limit_bytes / 5);
    }

    CUresult ask(Way way, std::uint64_t bytes, Holding& holding) {
        const std::int64_t began = now_ns();
        own_.since = began;
        own_.asked = cost_of(bytes);
        const CUresult result = get(place_, way, bytes, holding);
        own_.asked = 0;
        const std::int64_t ended = now_ns();
        if (result == CUDA_SUCCESS && ended - began > kMoment) note("got", began, ended, bytes);
        if (result != CUDA_ERROR_OUT_OF_MEMORY) need(result, name_of(way));
        return result;
    }

    void take() {
        const Way way = plan_.ways[chance_.below(plan_.ways.size())];
        const std::uint64_t bytes = size_for(way, some_bytes());
        Holding holding;
        const std::int64_t began = now_ns();
        CUresult result = ask(way, bytes, holding);
        if (result != CUDA_SUCCESS && chance_.one_in(3)) result = insist(way, bytes, began, holding);
        if (result == CUDA_SUCCESS) {
            holdings_.push_back(holding);
        } else if (chance_.one_in(4)) {
            free_half();
        } else {
            free_one();
        }
    }

    /// Repeats a request until the patience is over, and notes one that was refused all that time.
    CUresult insist(Way way, std::uint64_t bytes, std::int64_t began, Holding& holding) {
        std::int64_t refused = now_ns();
        while (refused - began < plan_.patience_ns) {
            sleep_ns(2 * kMillisecond);
            if (ask(way, bytes, holding) == CUDA_SUCCESS) return CUDA_SUCCESS;
            refused = now_ns();
        }
        note("refused", began, refused, bytes, name_of(way));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }

    void note(const char* what, std::int64_t began, std::int64_t ended, std::uint64_t bytes,
              const char* more = "") const {
        journal_.note(std::string(what) + ' ' + std::to_string(getpid()) + ' ' +
                      std::to_string(place_.device) + ' ' + std::to_string(began) + ' ' +
                      std::to_string(ended) + ' ' + std::to_string(cost_of(bytes)) + ' ' + more);
    }

    void free_one() {
        if (holdings_.empty()) return;
        std::swap(holdings_[chance_.below(holdings_.size())], holdings_.back());
        need(give_back(place_, holdings_.back()), "free");
        holdings_.pop_back();
    }

    void free_half() {
        for (std::size_t left = (holdings_.size() + 1) / 2; left > 0; --left) free_one();
    }

    void need(CUresult result, const char* call) const {
        if (result == CUDA_SUCCESS) return;
        journal_.failed(call, result);
        _exit(2);
    }

    const Plan& plan_;
    const Journal& journal_;
    Chance chance_;
    Desk& desk_;
    Desk::Thread& own_;
    Place place_;
    std::vector<Holding> holdings_;
};

/// A context needs memory, too, and may be refused for lack of it.
CUcontext retain(int device, const Journal& journal) {
    CUcontext context = nullptr;
    CUresult result = cuDevicePrimaryCtxRetain(&context, device);
    while (result == CUDA_ERROR_OUT_OF_MEMORY) {
        sleep_ns(2 * kMillisecond);
        result = cuDevicePrimaryCtxRetain(&context, device);
    }
    if (result == CUDA_SUCCESS) return context;
    journal.failed("cuDevicePrimaryCtxRetain", result);
    _exit(2);
}

/// A child process has the files of its parent open, so the parent's memory lives on in it for a while.
void leave_a_child(Chance& chance) {
    const std::int64_t longer = chance.time_below(100 * kMillisecond);
    const pid_t parent = getpid();
    if (fork() != 0) return;
    while (getppid() == parent) sleep_ns(5 * kMillisecond);
    sleep_ns(longer);
    _exit(0);
}

}  // namespace

void work(const Plan& plan, const Journal& journal, unsigned seed, Desk& desk) {
    prctl(PR_SET_NAME, plan.name.c_str());
    Chance chance(seed);
    if (const CUresult result = cuInit(0); result != CUDA_SUCCESS) {
        journal.failed("cuInit", result);
        _exit(2);
    }
    std::map<int, CUcontext> contexts;
    for (const int device : plan.devices) contexts[device] = retain(device, journal);
    if (chance.one_in(16)) leave_a_child(chance);
    const auto threads = 1 + static_cast<unsigned>(chance.below(plan.threads));
    std::vector<std::thread> others;
    for (unsigned t = 0; t < threads; ++t) {
        const int device = plan.devices[chance.below(plan.devices.size())];
        const auto live = [&, t, device, own = chance.seed()] {
            Hand hand(plan, journal, own, desk, desk.threads[t]);
            hand.begin(device, contexts[device]);
            hand.live();
        };
        if (t + 1 == threads) live();
        others.emplace_back(live);
    }
    _exit(0);  // not reached: the last thread's life doesn't end
}

}  // namespace programs::fire
