#include "module/engine/compute/lengths/sampling.hpp"

#include <algorithm>
#include <cstdlib>

namespace cgpu::module {
namespace {

constexpr std::uint64_t kSoon = Sampling::kUsual / 4;
/// Samples in a row that show that the kernels have changed. The first one after others that agreed with the
/// estimates counts as three.
constexpr int kChanged = 4;

constexpr std::int64_t kLongestQuiet = 1'000'000;  // ns; other streams are held no longer
constexpr std::int64_t kPoll = 20'000;             // ns
/// From an attempt that failed to the next, because a kernel may wait for launches that were held for it.
constexpr std::int64_t kShortestPause = 20'000'000;    // ns
constexpr std::int64_t kLongestPause = 2'000'000'000;  // ns

}  // namespace

constexpr Sampling::Pace Sampling::kSettled{kUsual, 10'000'000, 8, 20'000'000};
constexpr Sampling::Pace Sampling::kSettledWaiting{4 * kUsual, 40'000'000, 32, 80'000'000};
constexpr Sampling::Pace Sampling::kUnsettled{kSoon, 2'000'000, 2, 5'000'000};

const Sampling::Pace& Sampling::pace(const Asked& asked) const {
    if (!settled()) return kUnsettled;
    return asked.waits ? kSettledWaiting : kSettled;
}

Sampling::Turn Sampling::turn(const Asked& asked) {
    const bool mine = asked.context == context_ && asked.stream == stream_;
    if (quiet_until_ns_ != 0 && asked.now_ns >= quiet_until_ns_) abandon(asked.now_ns);
    if (quiet_until_ns_ != 0) {
        if (running_ && mine) return Turn::pass;
        if (running_ || !mine || !asked.idle) {
            held_ = true;
            return Turn::wait;
        }
        take(asked);
        return Turn::alone;
    }
    if (!is_due(asked)) return Turn::pass;
    if (asked.beside && (asked.now_ns < quiet_after_ns_ || asked.in_flight_ns > kLongestQuiet / 2))
        return Turn::pass;
    context_ = asked.context;
    stream_ = asked.stream;
    held_ = asked.beside;
    if (asked.beside) {
        quiet_until_ns_ = asked.now_ns + kLongestQuiet;
        return Turn::wait;
    }
    take(asked);
    return Turn::alone;
}

std::int64_t Sampling::ask_again_at(std::int64_t now_ns) const {
    return std::min(quiet_until_ns_, now_ns + kPoll);
}

bool Sampling::is_due(const Asked& asked) {
    if (!draining_) return false;
    if (next_at_ == 0) count_from(asked);
    if (asked.doubted && !asked.beside) return true;
    if (settled() && !asked.begins_batch) return false;
    const bool due =
        asked.launches >= next_at_ || (asked.now_ns >= next_ns_ && asked.launches >= next_if_slow_at_);
    return due && (asked.doubted || !asked.any_doubted || asked.launches >= next_at_ + pace(asked).launches);
}

bool Sampling::settled() const { return agreements_ >= kAgreements; }

/// Other streams are held only if that was not so lately. If one of them disturbs the sample, it doesn't
/// count.
void Sampling::take(const Asked& asked) {
    count_from(asked);
    if (quiet_until_ns_ == 0 && asked.now_ns < quiet_after_ns_) return;
    quiet_until_ns_ = asked.now_ns + kLongestQuiet;
    quiet_after_ns_ = asked.now_ns + std::max(pause_ns_, pace(asked).quiet_ns);
    running_ = true;
}

/// The next sample is due some time after this launch.
void Sampling::count_from(const Asked& asked) {
    if (random_ == 0) random_ = static_cast<std::uint64_t>(asked.now_ns) * 0x9e3779b97f4a7c15 | 1;
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const Pace& least = pace(asked);
    sampled_at_ = asked.launches;
    sampled_ns_ = asked.now_ns;
    next_at_ = asked.launches + least.launches + (random_ >> 32) % least.launches;
    next_if_slow_at_ = asked.launches + least.few_launches + (random_ >> 48) % least.few_launches;
    next_ns_ = asked.now_ns + least.ns + static_cast<std::int64_t>(random_ >> 24) % least.ns;
}

void Sampling::abandon(std::int64_t now_ns) {
    free_gpu();
    if (!held_) return;
    pause_ns_ = std::clamp(2 * pause_ns_, kShortestPause, kLongestPause);
    quiet_after_ns_ = now_ns + pause_ns_;
}

/// One sample may be wrong, or the kernels may vary.
bool Sampling::sampled(Functions::Change change) {
    pause_ns_ /= 2;
    if (change == Functions::Change::none) {
        streak_ = 0;
        agreements_ = std::min(agreements_ + 1, kAgreements);
        return false;
    }
    const int step = settled() ? kChanged - 1 : 1;
    agreements_ = 0;
    next_at_ = std::min(next_at_, sampled_at_ + kUnsettled.launches);
    next_if_slow_at_ = std::min(next_if_slow_at_, sampled_at_ + kUnsettled.few_launches);
    next_ns_ = std::min(next_ns_, sampled_ns_ + kUnsettled.ns);
    streak_ = change == Functions::Change::longer ? std::max(streak_, 0) + step : std::min(streak_, 0) - step;
    if (std::abs(streak_) < kChanged) return false;
    streak_ = 0;
    return true;
}

void Sampling::free_gpu() {
    quiet_until_ns_ = 0;
    running_ = false;
}

std::uint64_t Sampling::until_next(std::uint64_t launches) const {
    if (!draining_ || settled()) return kUsual;
    return launches < next_at_ ? next_at_ - launches : kSoon;
}

}  // namespace cgpu::module
