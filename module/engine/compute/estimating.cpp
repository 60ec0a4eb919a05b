#include "module/engine/compute/estimating.hpp"

#include <algorithm>
#include <cstdlib>

namespace cgpu::module {
namespace {

constexpr std::uint32_t kShortWaits = 3;  // in a row: then the next batch is expected to be like them
constexpr std::uint32_t kMeasuredEach = 16;
constexpr std::int64_t kCertain = 50;                 // times what may be uncertain
constexpr std::int64_t kMostUncertain = 200'000'000;  // ns: a program that was stopped is measured for 10 s
constexpr std::int64_t kWakeUp = 50'000;              // ns: a launch, and the return from a wait
constexpr std::int64_t kLately = 10'000'000'000;

bool is_far_longer(std::int64_t ns, std::int64_t estimate_ns) { return ns > 2 * estimate_ns + kWakeUp; }

}  // namespace

void Estimating::batch_opens() {
    if (!waited_) short_waits_ = 0;
    waited_ = false;
}

void Estimating::wait_begins(bool for_short) {
    short_waits_ = for_short ? std::min(short_waits_ + 1, kShortWaits) : 0;
    waited_ = true;
}

bool Estimating::wants(std::int64_t estimate_ns, std::int64_t now_ns) {
    if (estimate_ns > kLongestNs || !program_waits()) return false;
    forget(now_ns);
    if (uncertain_ns_ > 0) return false;
    if (random_ == 0) random_ = static_cast<std::uint64_t>(now_ns) * 0x9e3779b97f4a7c15 | 1;
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (random_ >> 32) % kMeasuredEach != 0;
}

bool Estimating::program_waits() const { return short_waits_ >= kShortWaits; }

std::int64_t Estimating::used(const Ended& ended, std::int64_t now_ns) {
    const std::int64_t most = std::max<std::int64_t>(0, ended.since_launch_ns);
    const bool is_long = is_far_longer(most, ended.estimate_ns);
    const bool is_short = most < ended.estimate_ns * 3 / 4;
    if (is_long || is_short) {
        forget(now_ns);
        uncertain_ns_ = std::min(uncertain_ns_ + std::abs(most - ended.estimate_ns), kMostUncertain);
    }
    const bool was_running = ended.since_close_ns > ended.estimate_ns + kWakeUp;
    const bool was_long_lately = long_at_ns_ != 0 && now_ns - long_at_ns_ < kLately;
    if (!is_long || !was_running || !(ended.by_event || was_long_lately))
        return std::min(most, ended.estimate_ns);
    if (ended.by_event) long_at_ns_ = now_ns;
    return most;
}

void Estimating::measured(std::int64_t estimate_ns, std::int64_t ns, std::int64_t now_ns) {
    if (is_far_longer(ns, estimate_ns)) long_at_ns_ = now_ns;
}

void Estimating::forget(std::int64_t now_ns) {
    const std::int64_t passed = std::max<std::int64_t>(0, now_ns - forgotten_at_ns_);
    uncertain_ns_ = std::max<std::int64_t>(0, uncertain_ns_ - passed / kCertain);
    forgotten_at_ns_ = std::max(forgotten_at_ns_, now_ns);
}

}  // namespace cgpu::module
