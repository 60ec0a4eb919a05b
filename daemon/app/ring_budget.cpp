#include "daemon/app/ring_budget.hpp"

#include <algorithm>

namespace cgpu::app {

void RingBudget::rung(schedule::Nanos now, std::size_t gpus, int times) {
    const auto most = now + kBurst * kEvery;
    if (too_loud_) {
        paid_at_ = most;
        looks_ = std::min(looks_ + 1, kPatience);
        return;
    }
    const auto price = times * kEvery / static_cast<schedule::Nanos>(std::max<std::size_t>(gpus, 1));
    paid_at_ = std::min(std::max(paid_at_, now) + price, most);
    too_loud_ = paid_at_ >= most;
}

bool RingBudget::listens(schedule::Nanos now) {
    if (too_loud_ && paid_at_ - now <= kBurst / 2 * kEvery) {
        too_loud_ = false;
        looks_ = 0;
    }
    return !too_loud_;
}

}  // namespace cgpu::app
