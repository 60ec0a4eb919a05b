#pragma once

#include <array>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <vector>

#include "core/schedule/parts/page_check.hpp"
#include "core/schedule/slicer.hpp"
#include "tests/unit/core/schedule/machine/schedule_gpu.hpp"
#include "tests/unit/core/schedule/machine/schedule_process.hpp"

namespace cgpu::schedule::sim {

/// How late an event is seen: an opened gate, a doorbell, a timer, a batch's end.
struct Latency {
    Nanos base = 15 * kMicro;
    Nanos exponential = 8 * kMicro;
    int tail_per_myriad = 0;
    Nanos tail = 0;
};
constexpr Latency kQuiet{};
constexpr Latency kNoisy{40 * kMicro, 20 * kMicro, 100, kMilli};
/// Several programs compete for every core: a woken thread waits for milliseconds.
constexpr Latency kStarved{200 * kMicro, 1500 * kMicro, 500, 4 * kMilli};

struct Tenant {
    Workload work;
    int weight = 1;
    Ask ask = Ask::weight;
    bool high_priority = false;
    int processes = 1;
    int job = -1;         // the same on several GPUs: one instance, a gang
    bool silent = false;  // its page isn't renewed while it waits, as if it got no CPU
    /// A process's page, as far as it comes to the slicer.
    struct Report : Reading {
        Nanos updated = 0;
        Nanos launches = 0;
    };
    /// Changes the report of each process before the slicer sees it. `open`: its gate is.
    using Lie = std::function<void(Nanos now, bool open, std::size_t process, Report&)>;
    Lie lie{};
};

/// GPUs, tenants and a slicer per GPU in virtual time.
class World {
  public:
    explicit World(const Settings& settings, const Latency& latency = kQuiet, std::size_t gpus = 1);

    /// Returns its slot on that GPU.
    std::size_t add(const Tenant& tenant, std::size_t gpu = 0);
    void run_for(Nanos duration);
    /// The processes end; the slicer learns of it at once. Running work completes.
    void kill(std::size_t slot, std::size_t gpu = 0);
    /// One of its processes ends, and another one begins.
    void replace(std::size_t slot, std::size_t process, std::size_t gpu = 0);
    /// The processes stop, and so do their pages; the GPU continues.
    void freeze(std::size_t slot, std::size_t gpu = 0);
    /// The daemon is gone for so long, in which all gates are open, and another one begins.
    void restart(Nanos gone, std::size_t gpu = 0);
    /// Reports a change of the settings now, as the daemon would.
    void poke(std::size_t gpu = 0);

    /// Is called after each step of the GPU, with what it read and decided.
    using Watcher = std::function<void(Nanos, const Readings&, const Decision&)>;
    void watch_steps(Watcher watcher, std::size_t gpu = 0) { sites_[gpu]->watcher = std::move(watcher); }

    /// Begins a new interval for share(), busy() and steps_per_second().
    void mark();
    /// The part of the interval in which the GPU ran this slot's work.
    [[nodiscard]] double share(std::size_t slot, std::size_t gpu = 0) const;
    /// GPU time that the slot got in it.
    [[nodiscard]] Nanos served(std::size_t slot, std::size_t gpu = 0) const;
    [[nodiscard]] double busy(std::size_t gpu = 0) const;
    [[nodiscard]] double steps_per_second() const;
    [[nodiscard]] std::uint64_t done(std::size_t slot, std::size_t gpu = 0) const;
    /// Sorted: the time from wanting the GPU to the first kernel's start, for each burst.
    [[nodiscard]] std::vector<Nanos> delays(std::size_t slot) const;

    [[nodiscard]] Slicer& slicer(std::size_t gpu = 0) { return sites_[gpu]->slicer; }
    [[nodiscard]] Nanos now() const { return now_; }
    [[nodiscard]] Nanos next_wake(std::size_t gpu = 0) const { return sites_[gpu]->wake_at; }

  private:
    enum class What { step, run, gate_seen, completed };
    struct Event {
        Nanos at;
        std::uint64_t order;
        What what;
        std::size_t gpu, slot, process;
        std::uint64_t generation;
        bool operator>(const Event& other) const {
            return at != other.at ? at > other.at : order > other.order;
        }
    };
    struct Instance {
        bool alive = false, frozen = false, silent = false;
        bool unsettled = false;  // what it launched without a daemon hasn't drained
        Tenant as;
        int job = -1;
        std::vector<std::unique_ptr<Process>> processes;
        std::vector<bool> wake_pending;
        std::vector<Nanos> served_at_mark;
        Workload work;
        Tenant::Lie lie;
        std::vector<PageCheck> checks;
        Nanos gone_used = 0;
    };
    struct Site {
        explicit Site(const Settings& given) : settings(given), slicer(given) {}
        Settings settings;
        bool served = true;  // by a daemon
        Gpu gpu;
        Slicer slicer;
        std::array<Instance, kSlots> instances;
        std::vector<std::pair<std::size_t, std::size_t>> owner;  // context → slot, process
        GateOrders gates;
        GangStates gangs;
        Nanos step_at = kForever, wake_at = kForever;
        std::uint64_t step_generation = 0;
        std::int64_t steps = 0;
        Watcher watcher;
    };
    [[nodiscard]] Nanos late();
    void push(Nanos at, What what, std::size_t gpu, std::size_t slot = 0, std::size_t process = 0,
              std::uint64_t generation = 0);
    void step_by(std::size_t gpu, Nanos at);
    void step(std::size_t gpu);
    [[nodiscard]] GangStates gangs(std::size_t gpu) const;
    void apply(std::size_t gpu, const GateOrders& gates);
    void handle(const Event& event);
    void act(const Process::Todo& todo, std::size_t gpu, std::size_t slot, std::size_t process);
    [[nodiscard]] Reading reading(Instance& instance, bool open) const;
    void advance_gpus(Nanos to);

    std::vector<std::unique_ptr<Site>> sites_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t order_ = 0;
    std::mt19937_64 random_{1};
    Latency latency_;
    Nanos now_ = 0, marked_at_ = 0;
    std::int64_t steps_at_mark_ = 0;
};

}  // namespace cgpu::schedule::sim
