#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "core/schedule/base/reading.hpp"
#include "tests/unit/core/schedule/machine/schedule_gpu.hpp"

namespace cgpu::schedule::sim {

/// A program's behaviour: it launches its kernels over and over, or in bursts with a wait and a pause after
/// each.
struct Workload {
    std::vector<Nanos> kernels;
    double jitter = 0;  // each kernel's length ± this part
    int burst = 0;      // kernels before a wait for all of them; 0: never waits
    Nanos think = 0;    // pause after the wait
    Nanos launch_cost = 4 * kMicro;
    int rare_permille = 0;  // so many of 1000 kernels take `rare` instead
    Nanos rare = 0;
    std::shared_ptr<Rendezvous> rendezvous;  // each kernel waits for its partner on the other side
    std::size_t side = 0;
    bool ignores_limit = false;   // launches whenever its gate is open, whatever the limit
    bool ignores_window = false;  // and as much as the driver takes
};

/// A program with the module in it: launches in batches of 500 µs through the gate, with 2 ms in flight, and
/// learns how long each kind of kernel takes from the times of its batches.
class Process {
  public:
    /// What the caller has to do after one of the calls below.
    struct Todo {
        std::optional<Nanos> run_after;  // call run() again then
        bool ring = false;               // tell the slicer that the readings changed
        bool reported = false;           // a batch has ended already: call completed() soon
    };

    Process(Gpu& gpu, const Workload& work, std::mt19937_64& random);
    /// The program continues. `reached` is used + in flight of the whole instance.
    Todo run(Nanos now, const GateOrder& gate, Nanos reached);
    /// The helper thread has seen that a batch ended.
    Todo completed(Nanos now, const GateOrder& gate);
    /// The gate has changed. Returns whether run() should be called.
    bool gate_changed(const GateOrder& gate, Todo& todo);

    [[nodiscard]] Reading reading(Nanos now) const;
    [[nodiscard]] Nanos reached() const { return used_ + in_flight_; }
    [[nodiscard]] std::size_t context() const { return context_; }
    [[nodiscard]] const std::vector<Nanos>& first_start_delays() const { return delays_; }
    [[nodiscard]] Nanos updated() const { return updated_; }

  private:
    static constexpr Nanos kBatch = 500 * kMicro;
    static constexpr Nanos kWindow = 2 * kMilli;
    static constexpr int kMostInBatch = 256;
    struct Batch {
        std::uint64_t first = 0, last = 0;
        Nanos estimate = 0;
        int count = 0;
        std::size_t kind = 0;
        bool one_kind = true, unmeasured = false, overlapped = false;
    };
    [[nodiscard]] Nanos remaining(Nanos now) const;
    [[nodiscard]] Nanos next_duration();
    bool close_batch();
    void learn(const Batch& batch, Nanos took, bool overlap);
    void measure(const Batch& batch, bool overlap);
    Todo finish_wait(Nanos now, const GateOrder& gate);
    void launch(Nanos now, const GateOrder& gate);

    Gpu& gpu_;
    Workload work_;
    std::mt19937_64& random_;
    std::size_t context_;
    std::deque<Batch> out_;
    std::optional<Batch> filling_;
    std::vector<Nanos> estimates_;   // per kind; -1: never measured
    std::vector<bool> provisional_;  // measured under overlap only
    double mixed_took_ = 0, mixed_estimate_ = 0;
    Nanos used_ = 0, in_flight_ = 0, mark_ = 0, oldest_start_ = 0, updated_ = 0;
    Nanos waited_ = 0, blocked_since_ = 0;
    Nanos gap_ = 0, idle_since_ = -1, burst_since_ = -1;
    std::uint64_t burst_first_ = 0;
    std::size_t kind_ = 0;
    int in_burst_ = 0;
    std::int64_t launched_ = 0;
    bool wants_ = false, blocked_ = false, by_gate_ = false, syncing_ = false;
    std::vector<Nanos> delays_;
};

}  // namespace cgpu::schedule::sim
