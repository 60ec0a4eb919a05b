#include "core/schedule/parts/doubt.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
/// After a long time without a step, the levels tell little of what was in between.
constexpr Nanos kMostOfOne = 20 * kMilli;
/// A launch that was let through may wait for others for so many times as long as it is measured.
constexpr Nanos kLetOut = 4;
/// Work may take so many times as long as it was estimated.
constexpr Nanos kMostUnderestimated = 4;
/// What was seen that may be a lie is forgotten at this part of the time: a thread that gets no CPU leaves
/// its open gate unused for a moment, again and again.
constexpr Nanos kForgotten = 64;
/// Work that has the GPU for itself is measured for at least one part in so many of the time.
constexpr Nanos kLeastMeasured = 8;
}  // namespace

void Doubt::see(const Seen& seen, Nanos now, const DoubtTuning& tuning) {
    const Nanos dt = std::min(seen.dt, kMostOfOne);
    // A launch that waits at an open gate with nothing in flight comes at once, unless its thread gets no
    // CPU.
    const bool waits = seen.open && seen.wants && seen.in_flight == 0;
    unseen_ += waits ? dt : seen.let_out ? dt / kLetOut : -dt / kForgotten;
    // What is measured outside a turn was in flight before. At the end of its own turn, the gate is closed,
    // too, and its work takes longer if another one's runs on.
    const bool outside = seen.closed && !seen.undrained && !seen.holds;
    const Nanos hidden =
        outside ? seen.fresh - kMostUnderestimated * std::min(seen.in_flight_before, kSecond) : 0;
    hidden_ = std::max<Nanos>(0, hidden_ + std::clamp<Nanos>(hidden, 0, kMostOfOne) - dt / kForgotten);
    unseen_ = std::max<Nanos>(0, unseen_ - std::max<Nanos>(0, seen.charged));

    const bool runs = seen.holds && !seen.shared && seen.in_flight_before > 0 && seen.in_flight > 0;
    // A program that waits for each of its short kernels may have one in flight whenever it is looked at.
    standing_ += runs && seen.fresh < std::min(dt, seen.in_flight_before) / kLeastMeasured ? dt : 0;
    standing_ = std::max<Nanos>(0, standing_ - kLeastMeasured * std::min(seen.fresh, kSecond));

    const bool too_much = seen.holds && seen.in_flight > tuning.most_in_flight;
    if (seen.impossible || too_much || unseen_ + hidden_ > tuning.most_unseen ||
        standing_ > tuning.most_standing) {
        unseen_ = hidden_ = standing_ = 0;
        until_ = now + tuning.lasts;
    }
    doubted_ = now < until_;
}

}  // namespace cgpu::schedule
