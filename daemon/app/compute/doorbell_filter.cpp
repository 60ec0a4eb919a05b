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

void DoorbellFilter::set_doorbells(std::vector<Known> all) {
    std::unordered_map<const InstanceDoorbell*, Doorbell*> before;
    for (auto& doorbell : doorbells_) before.emplace(doorbell.instance.get(), &doorbell);
    std::vector<Doorbell> doorbells;
    doorbells.reserve(all.size());
    for (auto& known : all) {
        if (const auto found = before.find(known.doorbell.get()); found != before.end()) {
            doorbells.push_back(std::move(*found->second));
            doorbells.back().places = std::move(known.places);
            before.erase(found);
        } else {
            const auto heard = known.doorbell->page->rings.load(std::memory_order_acquire);
            doorbells.push_back({std::move(known.doorbell), std::move(known.places), heard});
            mark_rung(doorbells.back());
        }
    }
    // Doorbells left in `before` no longer exist.
    sleepers_.retain([&](const auto& doorbell) { return !before.contains(doorbell.get()); });
    doorbells_ = std::move(doorbells);
    watched_.clear();
    too_many_doorbells_ = false;
}

void DoorbellFilter::mark_rung(const Doorbell& doorbell) {
    for (const auto& place : doorbell.places) place.gates->rung();
}

void DoorbellFilter::take_back_from_sleepers() {
    for (const auto& instance : sleepers_.take_back()) {
        const auto doorbell = std::find_if(doorbells_.begin(), doorbells_.end(),
                                           [&](const Doorbell& each) { return each.instance == instance; });
        if (doorbell == doorbells_.end()) continue;
        doorbell->watch = Watch::by_slicer;
        doorbell->woken = true;
    }
}

void DoorbellFilter::take_rings(Nanos now, std::optional<std::size_t> woken_by) {
    if (woken_by && *woken_by >= words_before_ && *woken_by - words_before_ < watched_.size())
        doorbells_[watched_[*woken_by - words_before_]].woken = true;
    take_back_from_sleepers();
    for (auto& doorbell : doorbells_) {
        if (doorbell.watch != Watch::by_slicer && doorbell.watch != Watch::by_time) continue;
        const auto rings = doorbell.instance->page->rings.load(std::memory_order_acquire);
        const bool rang = rings != doorbell.heard;
        if (!rang && !doorbell.woken) continue;
        budget_of(doorbell).rung(now, doorbell.places.size(), rang ? 1 : RingBudget::kWakeOnly);
        doorbell.rung_at = now;
        if (rang) mark_rung(doorbell);
        doorbell.heard = rings;
        doorbell.woken = false;
    }
}

DoorbellFilter::Watch DoorbellFilter::watch_for(Doorbell& doorbell, Nanos now) {
    bool only_waits = true;
    bool open = false;
    for (const auto& place : doorbell.places) {
        only_waits = only_waits && place.gates->only_waits(place.slot);
        open = open || place.gates->is_open(place.slot);
    }
    if (only_waits) return Watch::not_at_all;
    doorbell.open = open;
    return budget_of(doorbell).listens(now) ? Watch::by_slicer : Watch::by_time;
}

Nanos DoorbellFilter::listen(DoorbellWait& wait, Nanos now) {
    auto look_at = schedule::kForever;
    watched_.clear();
    for (std::size_t i = 0; i < doorbells_.size(); ++i) {
        auto& doorbell = doorbells_[i];
        if (doorbell.watch == Watch::by_sleeper) continue;
        doorbell.watch = watch_for(doorbell, now);
        if (doorbell.watch == Watch::by_slicer) watched_.push_back(i);
        if (doorbell.watch == Watch::by_time) look_at = std::min(look_at, budget_of(doorbell).look_at(now));
    }
    words_before_ = wait.size();
    if (words_before_ + watched_.size() > DoorbellWait::kMostWords && !too_many_doorbells_)
        hand_to_sleepers();
    for (const auto i : watched_) wait.add(doorbells_[i].instance->page->rings, doorbells_[i].heard);
    return look_at;
}

void DoorbellFilter::hand_to_sleepers() {
    const auto stay = watched_.begin() + kFewest;
    std::nth_element(watched_.begin(), stay, watched_.end(), [&](std::size_t a, std::size_t b) {
        return doorbells_[a].rung_at > doorbells_[b].rung_at;
    });
    std::vector<HeardDoorbell> quiet;
    for (auto i = stay; i != watched_.end(); ++i)
        quiet.push_back({doorbells_[*i].instance, doorbells_[*i].heard});
    const auto left = sleepers_.keep(std::move(quiet));
    too_many_doorbells_ = !left.empty();
    const auto is_left = [&](std::size_t i) {
        return std::any_of(left.begin(), left.end(), [&](const HeardDoorbell& each) {
            return each.doorbell == doorbells_[i].instance;
        });
    };
    const auto end = std::partition(stay, watched_.end(), is_left);
    for (auto i = end; i != watched_.end(); ++i) doorbells_[*i].watch = Watch::by_sleeper;
    watched_.erase(end, watched_.end());
}

}  // namespace cgpu::app
