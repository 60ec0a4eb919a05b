#include "daemon/app/compute/doorbell_filter.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace cgpu::app {
namespace {

/// If one wait doesn't take all doorbells, the slicer itself initially waits on this many. Each doorbell that
/// fires is added to those, and helpers get the excess only after this many more have fired.
constexpr std::size_t kFewest = 64;

}  // namespace

void DoorbellFilter::set_bells(std::vector<Known> all) {
    std::unordered_map<const InstanceBell*, Bell*> before;
    for (auto& bell : bells_) before.emplace(bell.instance.get(), &bell);
    std::vector<Bell> bells;
    bells.reserve(all.size());
    for (auto& known : all) {
        if (const auto found = before.find(known.bell.get()); found != before.end()) {
            bells.push_back(std::move(*found->second));
            bells.back().places = std::move(known.places);
            before.erase(found);
        } else {
            const auto heard = known.bell->bell->rings.load(std::memory_order_acquire);
            bells.push_back({std::move(known.bell), std::move(known.places), heard});
            mark_rung(bells.back());
        }
    }
    // Doorbells left in `before` no longer exist.
    sleepers_.retain([&](const auto& bell) { return !before.contains(bell.get()); });
    bells_ = std::move(bells);
    watched_.clear();
    too_many_bells_ = false;
}

void DoorbellFilter::mark_rung(const Bell& bell) {
    for (const auto& place : bell.places) place.gates->rung();
}

void DoorbellFilter::take_back_from_sleepers() {
    for (const auto& instance : sleepers_.take_back()) {
        const auto bell = std::find_if(bells_.begin(), bells_.end(),
                                       [&](const Bell& each) { return each.instance == instance; });
        if (bell == bells_.end()) continue;
        bell->watch = Watch::by_slicer;
        bell->woken = true;
    }
}

void DoorbellFilter::take_rings(Nanos now, std::optional<std::size_t> woken_by) {
    if (woken_by && *woken_by >= words_before_ && *woken_by - words_before_ < watched_.size())
        bells_[watched_[*woken_by - words_before_]].woken = true;
    take_back_from_sleepers();
    for (auto& bell : bells_) {
        if (bell.watch != Watch::by_slicer && bell.watch != Watch::by_time) continue;
        const auto rings = bell.instance->bell->rings.load(std::memory_order_acquire);
        const bool rang = rings != bell.heard;
        if (!rang && !bell.woken) continue;
        budget_of(bell).rung(now, bell.places.size(), rang ? 1 : RingBudget::kWakeOnly);
        bell.rung_at = now;
        if (rang) mark_rung(bell);
        bell.heard = rings;
        bell.woken = false;
    }
}

DoorbellFilter::Watch DoorbellFilter::watch_for(Bell& bell, Nanos now) {
    bool only_waits = true;
    bool open = false;
    for (const auto& place : bell.places) {
        only_waits = only_waits && place.gates->only_waits(place.slot);
        open = open || place.gates->is_open(place.slot);
    }
    if (only_waits) return Watch::not_at_all;
    bell.open = open;
    return budget_of(bell).listens(now) ? Watch::by_slicer : Watch::by_time;
}

Nanos DoorbellFilter::listen(BellWait& wait, Nanos now) {
    auto look_at = schedule::kForever;
    watched_.clear();
    for (std::size_t i = 0; i < bells_.size(); ++i) {
        auto& bell = bells_[i];
        if (bell.watch == Watch::by_sleeper) continue;
        bell.watch = watch_for(bell, now);
        if (bell.watch == Watch::by_slicer) watched_.push_back(i);
        if (bell.watch == Watch::by_time) look_at = std::min(look_at, budget_of(bell).look_at(now));
    }
    words_before_ = wait.size();
    if (words_before_ + watched_.size() > BellWait::kMostWords && !too_many_bells_) hand_to_sleepers();
    for (const auto i : watched_) wait.add(bells_[i].instance->bell->rings, bells_[i].heard);
    return look_at;
}

void DoorbellFilter::hand_to_sleepers() {
    const auto stay = watched_.begin() + kFewest;
    std::nth_element(watched_.begin(), stay, watched_.end(),
                     [&](std::size_t a, std::size_t b) { return bells_[a].rung_at > bells_[b].rung_at; });
    std::vector<HeardBell> quiet;
    for (auto i = stay; i != watched_.end(); ++i) quiet.push_back({bells_[*i].instance, bells_[*i].heard});
    const auto left = sleepers_.keep(std::move(quiet));
    too_many_bells_ = !left.empty();
    const auto is_left = [&](std::size_t i) {
        return std::any_of(left.begin(), left.end(),
                           [&](const HeardBell& each) { return each.bell == bells_[i].instance; });
    };
    const auto end = std::partition(stay, watched_.end(), is_left);
    for (auto i = end; i != watched_.end(); ++i) bells_[*i].watch = Watch::by_sleeper;
    watched_.erase(end, watched_.end());
}

}  // namespace cgpu::app
