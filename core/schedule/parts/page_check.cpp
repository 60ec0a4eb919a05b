#include "core/schedule/parts/page_check.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::schedule {

namespace {
// Sums of a few of these are far from overflow.
constexpr Nanos kMostReported = Nanos{1} << 61;
constexpr Nanos kMostInFlight = 3'600 * kSecond;
/// Two threads may write their reports in another order than they read the clock.
constexpr Nanos kTorn = kMilli;
/// Estimates of work may be this many times too long, on average …
constexpr Nanos kMostOverestimated = 4;
/// … and one that is completely wrong, or work that is lost with its context, counts only this much …
constexpr Nanos kMostOfOneEstimate = 100 * kMilli;
/// … of this.
constexpr Nanos kMostVanished = 500 * kMilli;
}  // namespace

bool PageCheck::plausible(const Claim& claim, Nanos now) {
    const Claim before = last_;
    last_.used = std::clamp<Nanos>(claim.used, -kMostReported, kMostReported);
    last_.in_flight = std::clamp<Nanos>(claim.in_flight, 0, kMostInFlight);
    last_.wants = claim.wants;
    last_.updated = std::clamp<Nanos>(claim.updated, 0, kMostReported);
    if (!started_) {
        started_ = true;
        at_ = now;
        found_work_ = last_.in_flight > 0;
        return claim.used >= 0;
    }
    const Nanos dt = std::clamp<Nanos>(now - at_, 0, kMostReported / 4);
    at_ = std::max(at_, now);
    const bool was_busy = before.wants || before.in_flight > 0;
    explained_ = std::min((was_busy ? explained_ : 0) + 2 * dt, kMostReported);

    const Nanos fresh = last_.used - before.used;
    // The first that is measured of it may have begun long ago.
    if (fresh > 0 && std::exchange(found_work_, false)) explained_ = std::max(explained_, fresh);
    const bool back = fresh < -kTorn || claim.used < 0 || last_.updated < before.updated - kTorn;
    if (back || fresh > explained_ + kAllowed) {
        explained_ = vanished_ = 0;
        return false;
    }
    explained_ -= std::clamp<Nanos>(fresh, 0, explained_);

    stands_ = last_.updated == before.updated ? stands_ + std::max<Nanos>(0, fresh) : 0;
    if (stands_ > kAllowed) {
        stands_ = 0;
        return false;
    }
    const Nanos left = std::clamp<Nanos>(before.in_flight - last_.in_flight, 0, kMostOfOneEstimate);
    const Nanos measured = kMostOverestimated * std::min<Nanos>(std::max<Nanos>(0, fresh), kMostReported / 8);
    vanished_ = std::max<Nanos>(0, vanished_ + left - measured);
    if (vanished_ <= kMostVanished) return true;
    vanished_ = 0;
    return false;
}

}  // namespace cgpu::schedule
