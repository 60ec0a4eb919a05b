#include "core/schedule/parts/late_credit.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
/// An instance whose last turn is longer ago tells nothing about the host now.
constexpr Nanos kMemory = 2 * kSecond;
/// The averages are over about this many turns …
constexpr double kTurns = 32;
/// … and so many average turns may be saved up.
constexpr double kMostSaved = 16;
}  // namespace

LateCredit::Lateness LateCredit::least_of_others(std::size_t slot, Nanos now) const {
    Lateness least;
    bool found = false;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Member& other = members_[i];
        if (i == slot || !other.known || now - other.ended_at > kMemory || other.held <= 0) continue;
        const double part = other.late / other.held;
        least.each_turn = found ? std::min(least.each_turn, other.late) : other.late;
        least.part = found ? std::min(least.part, part) : part;
        found = true;
    }
    return least;
}

Nanos LateCredit::allowed(std::size_t slot, Nanos held, Nanos now) const {
    const Lateness least = least_of_others(slot, now);
    const double own = std::max(least.each_turn, least.part * static_cast<double>(held));
    return members_[slot].saved + static_cast<Nanos>(own);
}

void LateCredit::end(std::size_t slot, Nanos held, Nanos claimed, Nanos believed, Nanos now) {
    Member& own = members_[slot];
    const auto most = static_cast<Nanos>(kMostSaved * least_of_others(slot, now).each_turn);
    own.saved = std::clamp<Nanos>(allowed(slot, held, now) - believed, 0, most);
    const auto late = static_cast<double>(claimed);
    const auto length = static_cast<double>(held);
    own.late = own.known ? own.late + (late - own.late) / kTurns : late;
    own.held = own.known ? own.held + (length - own.held) / kTurns : length;
    own.known = true;
    own.ended_at = now;
}

}  // namespace cgpu::schedule
