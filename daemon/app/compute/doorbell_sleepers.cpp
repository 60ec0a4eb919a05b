#include "daemon/app/compute/doorbell_sleepers.hpp"

#include <algorithm>
#include <system_error>

namespace cgpu::app {

bool DoorbellSleepers::add_group() {
    try {
        auto sleeper = std::make_unique<DoorbellSleeper>(word_);
        groups_.emplace_back().sleeper = std::move(sleeper);
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

std::vector<HeardDoorbell> DoorbellSleepers::keep(std::vector<HeardDoorbell> doorbells) {
    if (!can_wait_for_many()) return doorbells;
    for (std::size_t i = 0; !doorbells.empty(); ++i) {
        if (i == groups_.size() && !add_group()) break;
        auto& group = groups_[i];
        const auto count = std::min(doorbells.size(), DoorbellSleeper::kMost - group.doorbells.size());
        if (count == 0) continue;
        const auto from = doorbells.end() - static_cast<std::ptrdiff_t>(count);
        std::move(from, doorbells.end(), std::back_inserter(group.doorbells));
        doorbells.erase(from, doorbells.end());
        group.sleeper->keep(group.doorbells);
    }
    return doorbells;
}

std::vector<DoorbellSleepers::Doorbell> DoorbellSleepers::take_back() {
    std::vector<Doorbell> all;
    for (auto& group : groups_) {
        for (auto& doorbell : group.sleeper->take_back()) {
            // The helper may have received a new list with this doorbell while it returned it.
            if (std::erase_if(group.doorbells, [&](const auto& each) { return each.doorbell == doorbell; }) >
                0)
                all.push_back(std::move(doorbell));
        }
    }
    return all;
}

std::uint64_t DoorbellSleepers::wakes() const {
    std::uint64_t sum = 0;
    for (const auto& group : groups_) sum += group.sleeper->wakes();
    return sum;
}

}  // namespace cgpu::app
