#pragma once

#include <algorithm>
#include <cstdint>

#include "module/base/least_lately.hpp"

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
        ns = std::clamp<std::int64_t>(ns, 0, kMostNs);
        shortest_.add(ns, now_ns);
        return std::min(ns, shortest_.least() + shortest_.least() / 4);
    }

    /// What a launch usually takes until the GPU has it, at least; 0: unknown.
    [[nodiscard]] std::int64_t usual_ns() const {
        return shortest_.least() == kMostNs ? 0 : shortest_.least();
    }

    /// For a handover: see LeastLately.
    template <class Visit>
    void each_field(Visit& visit) {
        shortest_.each_field(visit);
    }

  private:
    static constexpr std::int64_t kWindow = 1'000'000'000;  // ns

    LeastLately<kWindow, kMostNs> shortest_;
};

}  // namespace cgpu::module
