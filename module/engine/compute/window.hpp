#pragma once

#include <algorithm>
#include <cstdint>

namespace cgpu::module {

/// The unfinished work of one GPU at one moment.
struct Flight {
    std::int64_t in_flight_ns;     ///< estimate of all of it
    std::int64_t oldest_start_ns;  ///< since when its oldest batch runs
    std::int64_t oldest_ns;        ///< estimate of that batch

    /// The work in flight, minus the part that the oldest batch should have done by now.
    std::int64_t remaining(std::int64_t now_ns) const {
        return in_flight_ns - std::clamp<std::int64_t>(now_ns - oldest_start_ns, 0, oldest_ns);
    }
    std::int64_t oldest_end_ns() const { return oldest_start_ns + oldest_ns; }
};

/// When to poll for the end of work that is expected at that time: a few times before, because the estimate
/// may be too long, at that time, and then less and less often.
std::int64_t look_again_at(std::int64_t expected_ns, std::int64_t now_ns);

/// Bounds the GPU time in flight. Once it is full, it admits launches only when a batch's worth has run
/// (otherwise batches would shrink to one kernel each). It yields when nothing ends for long, because the
/// running work may be waiting for the held launch. If it was (work ended right after the window yielded),
/// the window yields sooner the next times, one launch at a time, until that has no effect once.
class Window {
  public:
    /// Whether a launch must wait. `one_at_a_time`: another launch of its kind is in flight.
    bool holds(const Flight& flight, std::int64_t window_ns, bool one_at_a_time, std::int64_t now_ns);
    /// When a held launch should ask again.
    std::int64_t ask_again_at(const Flight& flight, std::int64_t window_ns, std::int64_t now_ns) const;

    void empty() { full_ = false; }
    /// Some work ended, or began after idle time.
    void progressed(std::int64_t now_ns);

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(full_);
        visit(progress_ns_);
        visit(stall_tick_ns_);
        visit(stall_passes_);
        visit(yielded_ns_);
        visit(yielding_helps_);
    }

  private:
    static std::int64_t refill_level(std::int64_t window_ns);
    std::int64_t stall_ns(const Flight& flight) const;

    bool full_ = false;
    std::int64_t progress_ns_ = 0;
    std::int64_t stall_tick_ns_ = 0;
    std::uint32_t stall_passes_ = 0;
    std::int64_t yielded_ns_ = 0;  // the first time since something ended; 0: it hasn't
    bool yielding_helps_ = false;
};

}  // namespace cgpu::module
