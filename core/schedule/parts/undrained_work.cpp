#include "core/schedule/parts/undrained_work.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
// Time for two context switches of the driver plus the completion report.
constexpr Nanos kReportDelay = kMilli;
}  // namespace

void UndrainedWork::add(std::size_t slot, Nanos now, const Remains& remains, const Limits& limits) {
    Undrained work;
    work.active = true;
    work.measured_counts = remains.measured_counts;
    work.since = now;
    // The position of the old context in its slice is unknown: it is half a slice on average.
    work.exclusive_left = std::min(remains.remaining, limits.driver_slice / 2);
    work.shared_left = remains.remaining - work.exclusive_left;
    work.most_overrun = limits.most_overrun;
    work.grace = limits.driver_slice + kReportDelay;
    work.paid = remains.paid;
    work.refundable = remains.refundable;
    work.others = remains.others + undrained_[slot].others;
    work.carry = undrained_[slot].carry;
    undrained_[slot] = work;
}

UndrainedWork::Charges UndrainedWork::pass(Nanos dt) {
    Charges taken{};
    Nanos left = dt;
    Nanos sharers = 0;
    std::array<bool, kSlots> shares{};
    for (std::size_t i = 0; i < kSlots; ++i) {
        Undrained& work = undrained_[i];
        if (!work.active) continue;
        taken[i] = std::min(work.exclusive_left, left);
        work.exclusive_left -= taken[i];
        left -= taken[i];
        shares[i] = work.exclusive_left == 0 && (work.shared_left > 0 || work.overrun + left > work.grace);
        sharers += shares[i] ? 1 : 0;
    }
    for (std::size_t i = 0; i < kSlots; ++i) {
        Undrained& work = undrained_[i];
        if (!work.active || work.exclusive_left > 0) continue;
        const Nanos predicted = std::min(left / (sharers + 1), work.shared_left);
        work.shared_left -= predicted;
        taken[i] += predicted;
        if (work.shared_left == 0) {
            const Nanos late_by = left - predicted * (sharers + 1);
            work.overrun += late_by;
            const Nanos late = shares[i] ? std::min(overrun_due(work, sharers), late_by / sharers) : 0;
            work.overrun_paid += late;
            taken[i] += late;
        }
        work.paid += taken[i];
    }
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (undrained_[i].active) undrained_[i].others_since += dt - taken[i];
    }
    return taken;
}

Nanos UndrainedWork::overrun_due(const Undrained& work, Nanos sharers) {
    const Nanos own = std::min({work.overrun - work.grace, work.overrun / (sharers + 1), work.most_overrun});
    return std::max<Nanos>(0, own - work.overrun_paid);
}

Nanos UndrainedWork::absorb(std::size_t slot, Nanos measured) {
    Undrained& work = undrained_[slot];
    const Nanos known = std::min(work.carry, measured);
    work.carry -= known;
    if (work.active) {
        work.measured += measured - known;
        return 0;
    }
    const Nanos foreign = std::min(work.others, measured - known);
    if (measured > 0) work.others = 0;
    return measured - known - foreign;
}

Nanos UndrainedWork::settle(std::size_t slot, Nanos now) {
    const Undrained work = undrained_[slot];
    undrained_[slot] = {};
    if (!work.active || !work.measured_counts) return 0;
    const Nanos least = std::max<Nanos>(0, work.measured - work.others - (now - work.since));
    return std::max(std::clamp(work.paid, least, std::max(least, work.measured)) - work.paid,
                    -work.refundable);
}

void UndrainedWork::resume(std::size_t slot) {
    Undrained& work = undrained_[slot];
    if (!work.active) return;
    Undrained resumed;
    resumed.carry = work.carry + std::max<Nanos>(0, work.paid - work.measured);
    resumed.others = work.others + work.others_since;
    work = resumed;
}

int UndrainedWork::count() const {
    return static_cast<int>(std::count_if(undrained_.begin(), undrained_.end(),
                                          [](const Undrained& work) { return work.active; }));
}

}  // namespace cgpu::schedule
