#include "daemon/app/compute/bell_sleepers.hpp"

#include <algorithm>
#include <system_error>

namespace cgpu::app {

bool BellSleepers::add_group() {
    try {
        auto sleeper = std::make_unique<BellSleeper>(word_);
        groups_.emplace_back().sleeper = std::move(sleeper);
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

std::vector<HeardBell> BellSleepers::keep(std::vector<HeardBell> bells) {
    if (!can_wait_for_many()) return bells;
    for (std::size_t i = 0; !bells.empty(); ++i) {
        if (i == groups_.size() && !add_group()) break;
        auto& group = groups_[i];
        const auto count = std::min(bells.size(), BellSleeper::kMost - group.bells.size());
        if (count == 0) continue;
        const auto from = bells.end() - static_cast<std::ptrdiff_t>(count);
        std::move(from, bells.end(), std::back_inserter(group.bells));
        bells.erase(from, bells.end());
        group.sleeper->keep(group.bells);
    }
    return bells;
}

std::vector<BellSleepers::Bell> BellSleepers::take_back() {
    std::vector<Bell> all;
    for (auto& group : groups_) {
        for (auto& bell : group.sleeper->take_back()) {
            // The helper may have received a new list with this doorbell while it returned it.
            if (std::erase_if(group.bells, [&](const auto& each) { return each.bell == bell; }) > 0)
                all.push_back(std::move(bell));
        }
    }
    return all;
}

std::uint64_t BellSleepers::wakes() const {
    std::uint64_t sum = 0;
    for (const auto& group : groups_) sum += group.sleeper->wakes();
    return sum;
}

}  // namespace cgpu::app
