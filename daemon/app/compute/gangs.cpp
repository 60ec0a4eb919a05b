#include "daemon/app/compute/gangs.hpp"

#include <algorithm>

namespace cgpu::app {
namespace {

/// Gang state propagates forward through the GPUs in one round and backward in a second; further changes wait
/// for the next step.
constexpr int kMostRounds = 3;
constexpr schedule::Nanos kNextRounds = 20 * schedule::kMicro;

}  // namespace

void Gangs::update(const model::Node& node, Gpus& gpus) {
    // Received reports are kept: a GPU without changes has nothing to do.
    std::map<const GpuGates*, schedule::GangStates> heard;
    for (const auto& each : gpus_) heard.emplace(each.gates, each.heard);
    gpus_.clear();
    std::map<model::Uuid, std::size_t> places;
    for (auto& [uuid, gates] : gpus) {
        places.emplace(uuid, gpus_.size());
        gpus_.push_back({&gates, {}, heard[&gates]});
    }
    for (const auto& [id, instance] : node.instances()) {
        if (instance.quotas.size() < 2) continue;
        std::vector<Member> gang;
        for (const auto& quota : instance.quotas) {
            const auto place = places.find(quota.gpu);
            if (place == places.end()) continue;
            if (const auto slot = gpus_[place->second].gates->slot_of(id))
                gang.push_back({place->second, *slot});
        }
        std::ranges::sort(gang, {}, &Member::gpu);
        for (const auto& self : gang) {
            Listener listener{self.slot, {}};
            std::copy_if(gang.begin(), gang.end(), std::back_inserter(listener.others),
                         [&](const Member& other) { return other.gpu != self.gpu; });
            gpus_[self.gpu].listeners.push_back(std::move(listener));
        }
    }
}

schedule::GangStates Gangs::listen(std::size_t gpu) const {
    schedule::GangStates out{};
    for (const auto& listener : gpus_[gpu].listeners) {
        for (const auto& other : listener.others) {
            out[listener.slot].hear(gpus_[other.gpu].gates->tell(other.slot), other.gpu < gpu);
        }
    }
    return out;
}

schedule::Nanos Gangs::step(schedule::Nanos now) {
    auto at = schedule::kForever;
    for (int round = 0; round < kMostRounds; ++round) {
        at = schedule::kForever;
        for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
            auto& each = gpus_[gpu];
            auto heard = listen(gpu);
            if (now >= each.gates->due_at() || heard != each.heard) {
                each.heard = heard;
                each.gates->step(now, heard);
            }
            at = std::min(at, each.gates->due_at());
        }
        bool news = false;
        for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) news |= listen(gpu) != gpus_[gpu].heard;
        if (!news) return at;
    }
    return std::min(at, now + kNextRounds);
}

}  // namespace cgpu::app
