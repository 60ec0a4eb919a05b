#include "core/schedule/zombies.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
// Past its prediction by less than this it is taken for drained but not yet reported.
constexpr Nanos kReportDelay = 2 * kMilli;
}  // namespace

void Zombies::rise(std::size_t slot, Nanos now, const Remains& remains, const Limits& limits) {
    Zombie z;
    z.active = true;
    z.measured_counts = remains.measured_counts;
    z.since = now;
    // Where in its slice the old context is, nobody knows: half of one on average.
    z.exclusive_left = std::min(remains.remaining, limits.driver_slice / 2);
    z.shared_left = remains.remaining - z.exclusive_left;
    z.overrun_left = limits.most_overrun;
    z.paid = remains.paid;
    z.refundable = remains.refundable;
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
        if (z.exclusive_left == 0 && z.shared_left == 0) z.overrun += left;
        shares[i] = z.exclusive_left == 0 && (z.shared_left > 0 || z.overrun > kReportDelay);
        sharers += shares[i] ? 1 : 0;
    }
    for (std::size_t i = 0; i < kSlots; ++i) {
        Zombie& z = zombies_[i];
        if (shares[i]) {
            Nanos part = left / (sharers + 1);
            if (z.shared_left == 0) part = std::min(part, z.overrun_left);
            z.overrun_left -= z.shared_left == 0 ? part : 0;
            z.shared_left = std::max<Nanos>(0, z.shared_left - part);
            taken[i] += part;
        }
        z.paid += taken[i];
    }
    return taken;
}

Nanos Zombies::absorb(std::size_t slot, Nanos measured) {
    Zombie& z = zombies_[slot];
    const Nanos known = std::min(z.carry, measured);
    z.carry -= known;
    if (!z.active) return measured - known;
    z.measured += measured - known;
    return 0;
}

Nanos Zombies::settle(std::size_t slot, Nanos now) {
    const Zombie z = zombies_[slot];
    zombies_[slot] = {};
    if (!z.active || !z.measured_counts) return 0;
    const Nanos least = std::max<Nanos>(0, z.measured - (now - z.since));
    return std::max(std::clamp(z.paid, least, std::max(least, z.measured)) - z.paid, -z.refundable);
}

void Zombies::revive(std::size_t slot) {
    Zombie& z = zombies_[slot];
    if (!z.active) return;
    const Nanos ahead = std::max<Nanos>(0, z.paid - z.measured);
    z = {};
    z.carry = ahead;
}

bool Zombies::any() const {
    return std::any_of(zombies_.begin(), zombies_.end(), [](const Zombie& z) { return z.active; });
}

}  // namespace cgpu::schedule
