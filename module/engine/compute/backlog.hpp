#pragma once

#include <algorithm>
#include <cstdint>

namespace cgpu::module {

/// When the GPU should have finished all launched work, by the estimates; corrected by measurements. Launches
/// after that time find the GPU idle.
class Backlog {
  public:
    void add(std::int64_t ns, std::int64_t now_ns) { end_ns_ = std::max(end_ns_, now_ns) + ns; }
    void take_back(std::int64_t ns) { end_ns_ -= ns; }

    /// How long the GPU has been idle; negative: how long it has still to work.
    [[nodiscard]] std::int64_t idle_ns(std::int64_t now_ns) const { return now_ns - end_ns_; }

    /// How long the GPU has been idle by now, without the idle time that earlier calls returned.
    std::int64_t new_gap(std::int64_t now_ns) {
        const std::int64_t since = std::max(end_ns_, gap_noted_ns_);
        if (now_ns <= since) return 0;
        gap_noted_ns_ = now_ns;
        return now_ns - since;
    }

    /// A mark for the present end: `due` turns it into a time that includes later corrections.
    std::int64_t mark() const { return end_ns_ - drift_ns_; }
    std::int64_t due(std::int64_t mark) const { return mark + drift_ns_; }

    /// Work ended this much later (or earlier, if negative) than it was due, and so will all work behind it.
    void correct(std::int64_t late_ns) {
        drift_ns_ += late_ns;
        end_ns_ += late_ns;
    }
    void at_least(std::int64_t end_ns) { end_ns_ = std::max(end_ns_, end_ns); }
    void at_most(std::int64_t end_ns) { end_ns_ = std::min(end_ns_, end_ns); }

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(end_ns_);
        visit(drift_ns_);
        visit(gap_noted_ns_);
    }

  private:
    std::int64_t end_ns_ = 0;
    std::int64_t drift_ns_ = 0;  ///< all corrections so far
    std::int64_t gap_noted_ns_ = 0;
};

}  // namespace cgpu::module
