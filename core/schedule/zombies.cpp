#include "core/schedule/zombies.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
// What the driver's changing to another context and back takes, and then the report.
constexpr Nanos kReportDelay = kMilli;
}  // namespace

void Zombies::rise(std::size_t slot, Nanos now, const Remains& remains, const Limits& limits) {
    Zombie z;
    z.active = true;
    z.measured_counts = remains.measured_counts;
    z.since = now;
    // Where in its slice the old context is, nobody knows: half of one on average.
    z.exclusive_left = std::min(remains.remaining, limits.driver_slice / 2);
    z.shared_left = remains.remaining - z.exclusive_left;
    z.most_overrun = limits.most_overrun;
    z.grace = limits.driver_slice + kReportDelay;
    z.paid = remains.paid;
    z.refundable = remains.refundable;
    z.others = remains.others + zombies_[slot].others;
    z.carry = zombies_[slot].carry;
    zombies_[slot] = z;
}

Zombies::Charges Zombies::pass(Nanos dt) {
    Charges taken{};
    Nanos left = dt;
    Nanos sharers = 0;
    std::array<bool, kSlots> shares{};
    for (std::size_t i = 0; i < kSlots; ++i) {
        Zombie& z = zombies_[i];
        if (!z.active) continue;
        taken[i] = std::min(z.exclusive_left, left);
        z.exclusive_left -= taken[i];
        left -= taken[i];
        shares[i] = z.exclusive_left == 0 && (z.shared_left > 0 || z.overrun + left > z.grace);
        sharers += shares[i] ? 1 : 0;
    }
    for (std::size_t i = 0; i < kSlots; ++i) {
        Zombie& z = zombies_[i];
        if (!z.active || z.exclusive_left > 0) continue;
        const Nanos predicted = std::min(left / (sharers + 1), z.shared_left);
        z.shared_left -= predicted;
        taken[i] += predicted;
        if (z.shared_left == 0) {
            const Nanos late_by = left - predicted * (sharers + 1);
            z.overrun += late_by;
            const Nanos late = shares[i] ? std::min(overrun_due(z, sharers), late_by / sharers) : 0;
            z.overrun_paid += late;
            taken[i] += late;
        }
        z.paid += taken[i];
    }
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (zombies_[i].active) zombies_[i].others_since += dt - taken[i];
    }
    return taken;
}

Nanos Zombies::overrun_due(const Zombie& zombie, Nanos sharers) {
    const Nanos own =
        std::min({zombie.overrun - zombie.grace, zombie.overrun / (sharers + 1), zombie.most_overrun});
    return std::max<Nanos>(0, own - zombie.overrun_paid);
}

Nanos Zombies::absorb(std::size_t slot, Nanos measured) {
    Zombie& z = zombies_[slot];
    const Nanos known = std::min(z.carry, measured);
    z.carry -= known;
    if (z.active) {
        z.measured += measured - known;
        return 0;
    }
    const Nanos foreign = std::min(z.others, measured - known);
    if (measured > 0) z.others = 0;
    return measured - known - foreign;
}

Nanos Zombies::settle(std::size_t slot, Nanos now) {
    const Zombie z = zombies_[slot];
    zombies_[slot] = {};
    if (!z.active || !z.measured_counts) return 0;
    const Nanos least = std::max<Nanos>(0, z.measured - z.others - (now - z.since));
    return std::max(std::clamp(z.paid, least, std::max(least, z.measured)) - z.paid, -z.refundable);
}

void Zombies::revive(std::size_t slot) {
    Zombie& z = zombies_[slot];
    if (!z.active) return;
    Zombie revived;
    revived.carry = z.carry + std::max<Nanos>(0, z.paid - z.measured);
    revived.others = z.others + z.others_since;
    z = revived;
}

int Zombies::count() const {
    return static_cast<int>(
        std::count_if(zombies_.begin(), zombies_.end(), [](const Zombie& z) { return z.active; }));
}

}  // namespace cgpu::schedule
