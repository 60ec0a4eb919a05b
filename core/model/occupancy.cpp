#include "core/model/occupancy.hpp"

#include "core/model/differences.hpp"

namespace cgpu::model {

Occupancy::Occupancy(const Node& node) : node_(node) {
    for (const auto& [id, instance] : node.instances())
        for (const Quota& quota : instance.quotas) on_gpus_[quota.gpu].push_back({&instance, &quota});
}

const std::vector<Occupant>& Occupancy::on(const Uuid& gpu) const {
    static const std::vector<Occupant> nobody;
    const auto found = on_gpus_.find(gpu);
    return found == on_gpus_.end() ? nobody : found->second;
}

Bytes Occupancy::allocated(const Uuid& gpu) const {
    Bytes sum;
    for (const Occupant& occupant : on(gpu)) sum += occupant.quota->memory_limit;
    return sum;
}

std::uint32_t Occupancy::free_weight(const Gpu& gpu) const {
    std::uint32_t used = 0;
    for (const Occupant& occupant : on(gpu.uuid)) used += occupant.quota->weight;
    return gpu.settings.max_inst - used;
}

Mode Occupancy::mode_in_force(const Gpu& gpu) const {
    const auto& there = on(gpu.uuid);
    return there.empty() ? gpu.settings.mode : there.front().instance->mode;
}

Policy Occupancy::policy_in_force(const Gpu& gpu) const {
    return mode_in_force(gpu) == Mode::memory_compute ? gpu.settings.policy : Policy::native;
}

std::set<Uuid> changed_gpus(const Node& before, const Node& now) {
    std::set<Uuid> changed;
    for (const Gpu& gpu : now.gpus())
        if (const Gpu* then = before.find_gpu(gpu.uuid); then == nullptr || *then != gpu)
            changed.insert(gpu.uuid);
    for_each_difference(before.instances(), now.instances(),
                        [&](const Instance* then, const Instance* since) {
                            for (const Instance* instance : {then, since})
                                if (instance != nullptr)
                                    for (const Quota& quota : instance->quotas) changed.insert(quota.gpu);
                        });
    return changed;
}

}  // namespace cgpu::model
