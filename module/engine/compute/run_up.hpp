#pragma once

#include <algorithm>
#include <cstdint>

namespace cgpu::module {

/// The time between the start event of a batch and its first kernel, on a stream that was idle: the GPU
/// passes the event at once, but the driver gives it the kernel only at the end of the launch call. That time
/// isn't use. On an H100 it was 3.8 µs: a fifth of a kernel of 20 µs that is waited for.
///
/// The clock is read after the call has returned. Whoever interrupts the thread between the two, or delays it
/// there on purpose, makes the reading late while the kernel runs already. So a call counts as hardly longer
/// than the shortest ones lately, and never as longer than kMostNs; and a batch is charged half of what its
/// events show at least (see Meter::reaped). Neither can tell a call that is always late from a slow driver:
/// what is gained in that way is bounded by kMostNs for each batch.
class RunUp {
  public:
    static constexpr std::int64_t kMostNs = 5'000;

    /// The part of `ns` that counts: from the recorded start event to the return of the first launch call, at
    /// `now_ns`.
    std::int64_t counted(std::int64_t ns, std::int64_t now_ns) {
        if (now_ns - window_start_ns_ > kWindow) {
            const bool long_ago = now_ns - window_start_ns_ > 2 * kWindow;
            shortest_ns_[1] = long_ago ? kMostNs : shortest_ns_[0];
            shortest_ns_[0] = kMostNs;
            window_start_ns_ = now_ns;
        }
        ns = std::clamp<std::int64_t>(ns, 0, kMostNs);
        shortest_ns_[0] = std::min(shortest_ns_[0], ns);
        const std::int64_t shortest = std::min(shortest_ns_[0], shortest_ns_[1]);
        return std::min(ns, shortest + shortest / 4);
    }

    /// What a launch usually takes until the GPU has it, at least; 0: unknown.
    [[nodiscard]] std::int64_t usual_ns() const {
        const std::int64_t shortest = std::min(shortest_ns_[0], shortest_ns_[1]);
        return shortest == kMostNs ? 0 : shortest;
    }

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        for (std::int64_t& shortest : shortest_ns_) visit(shortest);
        visit(window_start_ns_);
    }

  private:
    static constexpr std::int64_t kWindow = 1'000'000'000;  // ns

    std::int64_t shortest_ns_[2] = {kMostNs, kMostNs};  ///< of this window and of the one before
    std::int64_t window_start_ns_ = 0;
};

}  // namespace cgpu::module
