#include "daemon/app/bells.hpp"

#include <algorithm>

namespace cgpu::app {

void Bells::add(std::shared_ptr<const InstanceBell> bell, std::vector<Place> places) {
    const auto heard = bell->bell->rings.load(std::memory_order_acquire);
    ears_.push_back({std::move(bell), std::move(places), heard, true});
}

void Bells::hear() {
    for (auto& ear : ears_)
        if (ear.listens) ear.heard = ear.bell->bell->rings.load(std::memory_order_acquire);
}

void Bells::listen(BellWait& wait) {
    for (auto& ear : ears_) {
        ear.listens = !std::all_of(ear.places.begin(), ear.places.end(),
                                   [](const Place& place) { return place.gates->only_waits(place.slot); });
        if (ear.listens) wait.add(ear.bell->bell->rings, ear.heard);
    }
}

}  // namespace cgpu::app
