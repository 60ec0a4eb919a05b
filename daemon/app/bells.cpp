#include "daemon/app/bells.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace cgpu::app {
namespace {

/// Where one wait doesn't take all bells, the slicer sleeps on so many itself at first. Each that rings comes
/// to those, so sleepers are told of others only after as many more have.
constexpr std::size_t kFewest = 64;

}  // namespace

void Bells::know(std::vector<Known> all) {
    std::unordered_map<const InstanceBell*, Ear*> before;
    for (auto& ear : ears_) before.emplace(ear.bell.get(), &ear);
    std::vector<Ear> ears;
    ears.reserve(all.size());
    for (auto& known : all) {
        if (const auto found = before.find(known.bell.get()); found != before.end()) {
            ears.push_back(std::move(*found->second));
            ears.back().places = std::move(known.places);
            before.erase(found);
        } else {
            const auto heard = known.bell->bell->rings.load(std::memory_order_acquire);
            ears.push_back({std::move(known.bell), std::move(known.places), heard});
            tell(ears.back());
        }
    }
    // Those left are gone.
    sleepers_.retain([&](const auto& bell) { return !before.contains(bell.get()); });
    ears_ = std::move(ears);
    here_.clear();
    too_many_to_sleep_on_ = false;
}

void Bells::tell(const Ear& ear) {
    for (const auto& place : ear.places) place.gates->rung();
}

void Bells::come_back() {
    for (const auto& bell : sleepers_.take_back()) {
        const auto ear =
            std::find_if(ears_.begin(), ears_.end(), [&](const Ear& each) { return each.bell == bell; });
        if (ear == ears_.end()) continue;
        ear->care = Care::here;
        ear->woken = true;
    }
}

void Bells::hear(Nanos now, std::optional<std::size_t> woken_by) {
    if (woken_by && *woken_by >= words_before_ && *woken_by - words_before_ < here_.size())
        ears_[here_[*woken_by - words_before_]].woken = true;
    come_back();
    for (auto& ear : ears_) {
        if (ear.care != Care::here && ear.care != Care::by_time) continue;
        const auto rings = ear.bell->bell->rings.load(std::memory_order_acquire);
        const bool rang = rings != ear.heard;
        if (!rang && !ear.woken) continue;
        budget_of(ear).rung(now, ear.places.size(), rang ? 1 : RingBudget::kWakeOnly);
        ear.rung_at = now;
        if (rang) tell(ear);
        ear.heard = rings;
        ear.woken = false;
    }
}

Bells::Care Bells::care_for(Ear& ear, Nanos now) {
    bool only_waits = true;
    bool open = false;
    for (const auto& place : ear.places) {
        only_waits = only_waits && place.gates->only_waits(place.slot);
        open = open || place.gates->is_open(place.slot);
    }
    if (only_waits) return Care::not_at_all;
    ear.open = open;
    return budget_of(ear).listens(now) ? Care::here : Care::by_time;
}

Nanos Bells::listen(BellWait& wait, Nanos now) {
    auto look_at = schedule::kForever;
    here_.clear();
    for (std::size_t i = 0; i < ears_.size(); ++i) {
        auto& ear = ears_[i];
        if (ear.care == Care::elsewhere) continue;
        ear.care = care_for(ear, now);
        if (ear.care == Care::here) here_.push_back(i);
        if (ear.care == Care::by_time) look_at = std::min(look_at, budget_of(ear).look_at(now));
    }
    words_before_ = wait.size();
    if (words_before_ + here_.size() > BellWait::kMostWords && !too_many_to_sleep_on_) have_some_slept_on();
    for (const auto i : here_) wait.add(ears_[i].bell->bell->rings, ears_[i].heard);
    return look_at;
}

void Bells::have_some_slept_on() {
    const auto stay = here_.begin() + kFewest;
    std::nth_element(here_.begin(), stay, here_.end(),
                     [&](std::size_t a, std::size_t b) { return ears_[a].rung_at > ears_[b].rung_at; });
    std::vector<HeardBell> quiet;
    for (auto i = stay; i != here_.end(); ++i) quiet.push_back({ears_[*i].bell, ears_[*i].heard});
    const auto left = sleepers_.keep(std::move(quiet));
    too_many_to_sleep_on_ = !left.empty();
    const auto is_left = [&](std::size_t i) {
        return std::any_of(left.begin(), left.end(),
                           [&](const HeardBell& each) { return each.bell == ears_[i].bell; });
    };
    const auto end = std::partition(stay, here_.end(), is_left);
    for (auto i = end; i != here_.end(); ++i) ears_[*i].care = Care::elsewhere;
    here_.erase(end, here_.end());
}

}  // namespace cgpu::app
