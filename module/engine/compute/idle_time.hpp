#pragma once

#include <algorithm>
#include <cstdint>

namespace cgpu::module {

/// The time in which the GPU was idle while a batch was open, which is not charged. It is found by the
/// estimates: a launch comes when all work before it should have ended. How much idle time was found counts,
/// not when: a batch can contain thousands of such times.
class IdleTime {
  public:
    void found(std::int64_t ns) { found_ns_ += ns; }
    /// Work ended this much later than it was due, so the GPU was not idle then.
    void refuted(std::int64_t late_ns) { found_ns_ -= std::clamp<std::int64_t>(late_ns, 0, found_ns_); }
    /// Nothing is in flight.
    void forget() { found_ns_ = ahead_ns_ = 0; }

    /// A batch has ended.
    struct Ended {
        std::int64_t covered_ns;           ///< of its time, what no batch before it has covered
        std::int64_t estimate_ns;          ///< of its work
        std::int64_t others_in_flight_ns;  ///< estimate of the work in other batches
        bool gap;                          ///< it may contain idle time
    };
    /// The time to charge for it. The part for its own work is never idle; but that may have been charged
    /// already: a batch that ends early is charged for all that the GPU did since it began, also for batches
    /// that are still in flight.
    std::int64_t charge(const Ended& batch) {
        const std::int64_t own = std::max<std::int64_t>(0, batch.estimate_ns - ahead_ns_);
        const std::int64_t idle =
            batch.gap ? std::min(found_ns_, std::max<std::int64_t>(0, batch.covered_ns - own)) : 0;
        const std::int64_t charged = batch.covered_ns - idle;
        found_ns_ -= idle;
        ahead_ns_ = std::clamp<std::int64_t>(ahead_ns_ + charged - batch.estimate_ns, 0,
                                             std::max<std::int64_t>(0, batch.others_in_flight_ns));
        return charged;
    }

    // For a handover.
    std::int64_t& found_ns() { return found_ns_; }
    std::int64_t& ahead_ns() { return ahead_ns_; }

  private:
    std::int64_t found_ns_ = 0;  ///< and not taken from a batch yet
    std::int64_t ahead_ns_ = 0;  ///< charged already for work in flight
};

}  // namespace cgpu::module
