#include "core/schedule/parts/undrained_work.hpp"

#include <algorithm>
#include <cmath>

namespace cgpu::schedule {

namespace {
// Time for two context switches of the driver plus the completion report.
constexpr Nanos kReportDelay = kMilli;

/// Products of hours are beyond 64 bits.
Nanos fraction(Nanos of, Nanos part, Nanos whole) {
    if (whole == 0) return of;
    return std::llround(static_cast<double>(of) * (static_cast<double>(part) / static_cast<double>(whole)));
}
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
    work.counted = undrained_[slot].counted;
    undrained_[slot] = work;
}

UndrainedWork::Passed UndrainedWork::pass(Nanos dt, Nanos holder_worked) {
    Passed passed;
    Times& taken = passed.charged;
    Nanos left = dt;
    Nanos sharers = 0;
    Nanos running = 0;
    std::array<bool, kSlots> shares{};
    for (std::size_t i = 0; i < kSlots; ++i) {
        Undrained& work = undrained_[i];
        if (!work.active) continue;
        taken[i] = std::min(work.exclusive_left, left);
        work.exclusive_left -= taken[i];
        left -= taken[i];
        if (work.exclusive_left > 0) continue;
        shares[i] = !work.stopped && (work.shared_left > 0 || work.overrun + left > work.grace);
        sharers += shares[i] ? 1 : 0;
        ++running;
    }
    // A holder that has little work gets all of it, and the contexts that always have some get the rest.
    const auto part_of = [&](Nanos contexts) {
        const Nanos holders = std::min(left / (contexts + 1), holder_worked);
        return (left - holders) / std::max<Nanos>(contexts, 1);
    };
    const Nanos part = part_of(sharers);
    for (std::size_t i = 0; i < kSlots; ++i) {
        Undrained& work = undrained_[i];
        if (!work.active || work.exclusive_left > 0) continue;
        if (work.stopped) {
            work.overrun += left;
            work.overrun_part += part_of(running);
            continue;
        }
        const Nanos predicted = std::min(part, work.shared_left);
        work.shared_left -= predicted;
        taken[i] += predicted;
        if (work.shared_left == 0) {
            const Nanos late_by = fraction(left, part - predicted, part);
            work.overrun += late_by;
            work.overrun_part += fraction(part_of(running), late_by, left);
            const Nanos runs =
                shares[i] ? std::clamp<Nanos>(overrun_of(work) - work.overrun_ran, 0, late_by / sharers) : 0;
            const Nanos late = std::clamp<Nanos>(work.most_overrun - work.overrun_paid, 0, runs);
            work.overrun_ran += runs;
            work.overrun_paid += late;
            work.counted += runs - late;
            passed.ran[i] = runs - late;
            taken[i] += late;
        }
        work.paid += taken[i];
    }
    for (std::size_t i = 0; i < kSlots; ++i) passed.ran[i] += taken[i];
    const Nanos others_most = count() > 1 ? dt : std::min(dt, holder_worked);
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (!undrained_[i].active) continue;
        undrained_[i].others_since += dt - passed.ran[i];
        undrained_[i].others_most += others_most;
    }
    return passed;
}

Nanos UndrainedWork::overrun_of(const Undrained& work) {
    return std::min(work.overrun - work.grace, work.overrun_part);
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

UndrainedWork::Correction UndrainedWork::settle(std::size_t slot, Nanos now) {
    const Undrained work = undrained_[slot];
    undrained_[slot] = {};
    if (!work.active || !work.measured_counts) return {0, -work.counted};
    const Nanos least =
        std::max<Nanos>(0, work.measured - work.others - std::min(work.others_most, now - work.since));
    // That it ran for so much longer is proven now.
    const Nanos late = work.overrun > work.grace ? work.overrun_part - work.overrun_paid : 0;
    const Nanos due = std::clamp(work.paid + std::max<Nanos>(0, late), least, std::max(least, work.measured));
    const Nanos charge = std::max(due - work.paid, -work.refundable);
    return {charge, charge - work.counted};
}

void UndrainedWork::resume(std::size_t slot) {
    Undrained& work = undrained_[slot];
    if (!work.active) return;
    Undrained resumed;
    resumed.carry = work.carry + std::max<Nanos>(0, work.paid - work.measured);
    resumed.others = work.others + work.others_since;
    resumed.counted = work.counted;
    work = resumed;
}

Nanos UndrainedWork::counted(std::size_t slot, Nanos charged) {
    Undrained& work = undrained_[slot];
    const Nanos part = work.active ? 0 : std::clamp<Nanos>(charged, 0, work.counted);
    work.counted -= part;
    return part;
}

int UndrainedWork::count() const {
    return static_cast<int>(std::ranges::count_if(undrained_, &Undrained::runs));
}

}  // namespace cgpu::schedule
