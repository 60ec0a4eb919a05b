#include "daemon/app/compute/ring_budget.hpp"

#include <algorithm>

namespace cgpu::app {

void RingBudget::rung(schedule::Nanos now, std::size_t gpus, int times) {
    const auto most = now + kBurst * kEvery;
    if (now - paid_at_ > kForget) found_loud_ = 0;
    if (too_loud_) {
        paid_at_ = most;
    } else {
        const auto rings = found_loud_ < kPatience ? times : times * kDearer;
        const auto price = rings * kEvery / static_cast<schedule::Nanos>(std::max<std::size_t>(gpus, 1));
        paid_at_ = std::min(std::max(paid_at_, now) + price, most);
    }
    too_loud_ = paid_at_ >= most;
    if (too_loud_) found_loud_ = std::min(found_loud_ + 1, kPatience);
}

bool RingBudget::listens(schedule::Nanos now) {
    if (paid_at_ - now <= kBurst / 2 * kEvery) too_loud_ = false;
    return !too_loud_;
}

}  // namespace cgpu::app
