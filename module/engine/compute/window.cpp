#include "module/engine/compute/window.hpp"

#include "module/engine/compute/batches.hpp"

namespace cgpu::module {
namespace {

constexpr std::int64_t kPatience =
    50'000'000;  // without progress, beyond twice the estimate of the oldest batch
// While the window yields, this many launches pass in each interval, so that the queue doesn't grow without
// bound.
constexpr std::int64_t kStallTick = 10'000'000;
constexpr std::uint32_t kStallPasses = 64;
// If a launch unblocks work in flight, that work ends within this time after the launch, as a waiting thread
// sees it …
constexpr std::int64_t kHelpsWithin = 5'000'000;
// … and where that happened, this is the patience.
constexpr std::int64_t kShortPatience = 500'000;
constexpr std::int64_t kEarly = 200'000;
constexpr std::int64_t kSoonest = 50'000;
constexpr std::int64_t kLatest = 5'000'000;

}  // namespace

std::int64_t look_again_at(std::int64_t expected_ns, std::int64_t now_ns) {
    if (expected_ns > now_ns)
        return std::min(expected_ns, now_ns + std::max((expected_ns - now_ns) / 4, kEarly));
    return now_ns + std::clamp((now_ns - expected_ns) / 4, kSoonest, kLatest);
}

bool Window::holds(const Flight& flight, std::int64_t window_ns, bool one_at_a_time, std::int64_t now_ns) {
    const std::int64_t left = flight.remaining(now_ns);
    if (left <= refill_level(window_ns)) full_ = false;
    if (left >= window_ns) full_ = true;
    if (!full_ && !one_at_a_time) return false;
    if (yielded_ns_ != 0 && now_ns - yielded_ns_ > kHelpsWithin) yielding_helps_ = false;
    if (now_ns <= stall_ns(flight)) return true;

    if (yielding_helps_ && yielded_ns_ != 0) return true;
    if (yielded_ns_ == 0) yielded_ns_ = now_ns;
    if (now_ns - stall_tick_ns_ >= kStallTick) {
        stall_tick_ns_ = now_ns;
        stall_passes_ = 0;
    }
    return ++stall_passes_ > kStallPasses;
}

std::int64_t Window::ask_again_at(const Flight& flight, std::int64_t window_ns, std::int64_t now_ns) const {
    std::int64_t when = look_again_at(flight.oldest_end_ns() + 1, now_ns);
    if (full_) {
        const std::int64_t until_refill = flight.remaining(now_ns) - refill_level(window_ns);
        if (until_refill > 0) when = std::min(when, now_ns + until_refill);
    }
    if (stall_ns(flight) >= now_ns) when = std::min(when, stall_ns(flight) + 1);
    return std::min(when, now_ns + kPatience);
}

void Window::progressed(std::int64_t now_ns) {
    if (yielded_ns_ != 0) yielding_helps_ = now_ns - yielded_ns_ <= kHelpsWithin;
    yielded_ns_ = 0;
    progress_ns_ = std::max(progress_ns_, now_ns);
}

std::int64_t Window::refill_level(std::int64_t window_ns) {
    return window_ns > 2 * kBatchLengthNs ? window_ns - kBatchLengthNs : window_ns / 2;
}

std::int64_t Window::stall_ns(const Flight& flight) const {
    return progress_ns_ + (yielding_helps_ ? kShortPatience : 2 * flight.oldest_ns + kPatience);
}

}  // namespace cgpu::module
