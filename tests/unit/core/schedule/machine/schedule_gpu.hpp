#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule::sim {

/// Two sequences of kernels that wait for each other: number k of one side ends only after number k of the
/// other has begun. Collectives across GPUs do that, and programs that communicate through shared memory.
struct Rendezvous {
    std::array<std::int64_t, 2> begun{-1, -1};  // highest number begun on each side
};

/// One NVIDIA GPU without MPS, in virtual time: each context is a first-in-first-out queue, one context runs
/// at a time, and every 2 ms the driver switches between contexts with work, which costs 50 µs. A kernel is
/// preempted at the end of a slice and can't be cut short. This is the judge: a tenant got what this served.
class Gpu {
  public:
    struct Kernel {
        Nanos duration = 0;
        Nanos arrival = 0;
        bool reported = false;  // its end is told to the process
        Rendezvous* rendezvous = nullptr;
        std::size_t side = 0;
        std::int64_t number = 0;  // at the rendezvous
        Nanos begun = 0, done = 0;
    };

    std::size_t add_context();
    /// Returns its number in the context. Arrival times of one context never go back.
    std::uint64_t launch(std::size_t context, const Kernel& kernel);
    /// Requests a report when this kernel ends. False: it has ended.
    bool report(std::size_t context, std::uint64_t number);
    /// The process has ended: kernels that haven't begun are dropped, the running one completes.
    void kill(std::size_t context);

    /// Runs until `to`, or until a kernel ends whose end is reported: then returns its context.
    std::optional<std::size_t> advance(Nanos to);

    [[nodiscard]] Nanos now() const { return now_; }
    [[nodiscard]] Nanos served(std::size_t context) const { return contexts_[context].served; }
    [[nodiscard]] std::uint64_t done(std::size_t context) const { return contexts_[context].head; }
    [[nodiscard]] const Kernel& kernel(std::size_t context, std::uint64_t number) const {
        return contexts_[context].ring[number % kRing];
    }
    /// Room for one more launch.
    [[nodiscard]] bool room(std::size_t context) const {
        return contexts_[context].tail - contexts_[context].head < kRing / 2;
    }

  private:
    static constexpr std::size_t kRing = 4096;
    static constexpr Nanos kSlice = 2 * kMilli;
    static constexpr Nanos kSwitch = 50 * kMicro;
    struct Context {
        std::vector<Kernel> ring = std::vector<Kernel>(kRing);
        std::uint64_t head = 0, tail = 0;
        Nanos left = -1;  // of the head; -1: not begun
        Nanos served = 0;
    };
    [[nodiscard]] bool ready(const Context& context, Nanos& next_arrival) const;
    [[nodiscard]] static bool spins(const Context& context);
    [[nodiscard]] std::optional<std::size_t> other_ready(Nanos& next_arrival) const;
    void begin_head(Context& context);

    std::vector<Context> contexts_;
    std::optional<std::size_t> active_;
    Nanos now_ = 0, slice_end_ = 0, switched_at_ = 0;
};

}  // namespace cgpu::schedule::sim
