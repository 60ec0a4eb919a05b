#include "core/ends/idle.hpp"

#include <algorithm>

namespace cgpu::ends {
namespace {

/// So many looks while it has no work.
constexpr Nanos kLooks = 20;
constexpr Nanos kLeastBetween = model::kSecond;

Nanos span(std::uint64_t seconds) { return static_cast<Nanos>(seconds) * model::kSecond; }

}  // namespace

Idle first_look(const std::optional<Work>& work, std::uint64_t seconds, Nanos now) {
    const Nanos between = std::max(span(seconds) / kLooks, kLeastBetween);
    return {work, now, now + std::min(between, span(seconds))};
}

Idle next_look(const Idle& before, const std::optional<Work>& work, std::uint64_t seconds, Nanos now) {
    Idle next = first_look(work, seconds, now);
    if (!work || work != before.work) return next;
    next.since = before.since;
    next.told = before.told;
    next.look_at = std::max(std::min(next.look_at, next.since + span(seconds)), now + kLeastBetween);
    return next;
}

Nanos ends_at(const Idle& idle, std::uint64_t seconds) { return idle.since + span(seconds); }

bool is_over(const Idle& idle, std::uint64_t seconds, Nanos now) { return now >= ends_at(idle, seconds); }

bool is_to_tell(const Idle& idle, std::uint64_t seconds, Nanos soon, Nanos now) {
    return !idle.told && soon > 0 && span(seconds) > soon && now >= ends_at(idle, seconds) - soon;
}

}  // namespace cgpu::ends
