#pragma once

#include <cstdint>

namespace cgpu::module {

/// Which batches need not be measured. Recording two events and reading them takes as long as an empty
/// kernel. A program notices that if it waits for each of its short kernels; for all others the events cost
/// little. So while a program does that, only some of its batches are measured, and the others are charged
/// their estimates, which the measured ones keep right.
class Estimating {
  public:
    /// Estimated GPU time of the longest such batch.
    static constexpr std::int64_t kLongestNs = 100'000;

    void batch_opens();
    /// The program begins to wait. `for_short`: for one batch that nothing runs beside, of at most
    /// kLongestNs.
    void wait_begins(bool for_short);

    /// Whether a new batch with this estimate should be estimated. One in 16 is measured, chosen at random:
    /// the program may repeat a sequence of kernels whose lengths differ, or try to launch its long kernels
    /// when nobody measures them.
    bool wants(std::int64_t estimate_ns, std::int64_t now_ns);

    /// Whether the program waits for each of its batches, as far as the last ones tell.
    [[nodiscard]] bool program_waits() const;

    /// An estimated batch as it ended.
    struct Ended {
        std::int64_t estimate_ns;
        std::int64_t since_launch_ns;  ///< from its first launch to its end, or later
        std::int64_t since_close_ns;   ///< from when its end event was recorded, or a wait for it began
        bool by_event;                 ///< it ended then; else a wait for it returned then
    };
    /// The time to charge: its estimate, but not more than the time since its first launch. If it was far
    /// longer in flight, that time is charged if it was running until then: an event tells that. If a wait
    /// took so long, the waiting thread may have been interrupted; that it wasn't is assumed if other batches
    /// were so long lately. In any case the difference is uncertain: all batches are measured then, until it
    /// is at most a fiftieth of the time that has passed.
    std::int64_t used(const Ended& ended, std::int64_t now_ns);
    /// A batch was measured.
    void measured(std::int64_t estimate_ns, std::int64_t ns, std::int64_t now_ns);

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(short_waits_);
        visit(waited_);
        visit(random_);
        visit(uncertain_ns_);
        visit(forgotten_at_ns_);
        visit(long_at_ns_);
    }

  private:
    void forget(std::int64_t now_ns);

    std::uint32_t short_waits_ = 0;     ///< batches in a row that were short, alone, and ended by a wait
    bool waited_ = false;               ///< whether the program has waited since a batch was opened
    std::uint64_t random_ = 0;          ///< 0: not begun
    std::int64_t uncertain_ns_ = 0;     ///< minus a fiftieth of the time since, at least 0 ...
    std::int64_t forgotten_at_ns_ = 0;  ///< ... as of this time
    std::int64_t long_at_ns_ = 0;       ///< when a measured batch was far longer than its estimate; 0: never
};

}  // namespace cgpu::module
