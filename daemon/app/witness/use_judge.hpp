#pragma once

#include <deque>

#include "core/model/nanos.hpp"
#include "daemon/app/witness/sources.hpp"

namespace cgpu::app {

using model::Nanos;

/// Judges whether somebody (a process, or all of an instance) uses a GPU far more than it reports: compares
/// the driver's samples with the growth of the reported time.
///
/// The driver says only roughly which moments a sample is of, so it is compared with the highest share that
/// was reported for a second about then. What it shows beyond that and beyond the tolerance is summed, and
/// the sum shrinks in the same way while there is less; neither noise nor a report that comes late lets it
/// grow without end. Found is who has a sum of kMuch that has been there for kPatience, until it is used up.
class UseJudge {
  public:
    // Of the GPU's time, and of what is reported: programs that change faster than they are measured have
    // been charged half of what they used (docs/isolation.md).
    static constexpr double kTolerance = 0.2;
    static constexpr double kToleranceOfReports = 0.5;
    static constexpr double kMuch = 3;  ///< seconds of GPU time
    static constexpr double kMost = 6;  ///< the sum's: so an escape that has ended is over in time
    static constexpr Nanos kPatience = 10 * model::kSecond;
    /// No sample of its first seconds counts.
    static constexpr Nanos kGrace = 5 * model::kSecond;
    /// The length of the time for which reports are compared, and how much older than the last answer a
    /// sample may be.
    static constexpr Nanos kWindow = model::kSecond;
    /// Samples further apart say nothing of the time in between.
    static constexpr Nanos kLongest = 5 * model::kSecond;

    explicit UseJudge(Nanos now) : first_(now) {}

    /// How much it has reported so far; nanoseconds of GPU time, never less than before.
    void reported(Nanos now, Nanos total);
    /// Samples of the time before this moment aren't judged.
    void begin(Nanos now) { witnessed_at_ = now; }
    /// The driver's figure since the last call, 0..1. Call it after reported() of the same moment.
    void witnessed(Nanos now, double share);
    /// The driver's figures are missing, or too old: what was seen before doesn't count any more.
    void forget();

    [[nodiscard]] bool found() const { return found_; }
    /// The part of the GPU's time that isn't reported, 0..1, of about the last ten seconds; 0 if it isn't
    /// found.
    [[nodiscard]] double unreported() const { return found_ ? excess_ : 0; }
    [[nodiscard]] bool in_grace(Nanos now) const { return now - first_ < kGrace; }

  private:
    struct Point {
        Nanos at;
        Nanos total;
    };
    [[nodiscard]] double most_reported_since(Nanos from) const;

    Nanos first_;
    std::deque<Point> points_;
    Nanos witnessed_at_ = 0;  ///< 0: no sample yet whose beginning is known
    double sum_ = 0;
    double excess_ = 0;
    Nanos since_ = 0;  ///< when the sum began to grow
    bool found_ = false;
};

/// Adds up what one process reports, from its claims. Unfinished work counts while it runs, because the time
/// of a kernel is reported at its end, and there are kernels of minutes; at its end it counts once more. So
/// do copies and fills that aren't measured, by what they take at most.
class ReportedTime {
  public:
    /// Nanoseconds of GPU time since the first call: never less than before.
    Nanos add(Nanos now, const ComputeReport& report);

  private:
    Nanos at_ = 0;  ///< 0: not called yet
    Nanos used_ = 0;
    Nanos total_ = 0;
    bool in_flight_ = false;
    std::uint32_t small_transfers_ = 0;
};

}  // namespace cgpu::app
