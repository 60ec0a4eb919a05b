#include "core/model/node.hpp"

#include <utility>

namespace cgpu::model {

const Gpu* Node::find_gpu(const Uuid& uuid) const {
    for (const Gpu& gpu : gpus_)
        if (gpu.uuid == uuid) return &gpu;
    return nullptr;
}

const Gpu* Node::find_gpu_by_index(std::uint32_t index) const {
    for (const Gpu& gpu : gpus_)
        if (gpu.present && gpu.index == index) return &gpu;
    return nullptr;
}

const Instance* Node::find_instance(const InstanceId& id) const { return instances_.find(id); }

std::vector<Occupant> Node::occupants_of(const Uuid& gpu) const {
    std::vector<Occupant> found;
    for (const auto& [id, instance] : instances_)
        if (const Quota* quota = instance.quota_on(gpu); quota != nullptr)
            found.push_back({&instance, quota});
    return found;
}

Bytes Node::allocated(const Uuid& gpu) const {
    Bytes sum;
    for (const Occupant& occupant : occupants_of(gpu)) sum += occupant.quota->memory_limit;
    return sum;
}

Bytes Node::free_memory(const Uuid& gpu) const {
    const Gpu* known = find_gpu(gpu);
    if (known == nullptr) return {};
    const Bytes left = known->total - allocated(gpu);
    const Bytes held = held_unmanaged(gpu);
    return left > held ? left - held : Bytes{};
}

Bytes Node::held_unmanaged(const Uuid& gpu) const {
    const auto found = held_unmanaged_.find(gpu);
    return found == held_unmanaged_.end() ? Bytes{} : found->second;
}

std::uint32_t Node::used_weight(const Uuid& gpu) const {
    std::uint32_t sum = 0;
    for (const Occupant& occupant : occupants_of(gpu)) sum += occupant.quota->weight;
    return sum;
}

std::uint32_t Node::free_weight(const Uuid& gpu) const {
    const Gpu* known = find_gpu(gpu);
    return known == nullptr ? 0 : known->settings.max_inst - used_weight(gpu);
}

Mode Node::mode_in_force(const Gpu& gpu) const {
    const auto there = occupants_of(gpu.uuid);
    return there.empty() ? gpu.settings.mode : there.front().instance->mode;
}

Policy Node::policy_in_force(const Gpu& gpu) const {
    return mode_in_force(gpu) == Mode::memory_compute ? gpu.settings.policy : Policy::native;
}

Change Node::changed() {
    ++generation_;
    return Change::changed;
}

Change Node::set_default_memory(std::optional<Bytes> bytes, Lasts lasts) {
    const auto kept_before = until_reboot_.default_memory.value_or(default_memory_);
    const auto kept = lasts == Lasts::until_reboot ? kept_before : bytes;
    if (default_memory_ == bytes && kept_before == kept) return Change::unchanged;
    default_memory_ = bytes;
    if (kept == bytes)
        until_reboot_.default_memory.reset();
    else
        until_reboot_.default_memory.emplace(kept);
    return changed();
}

Change Node::boot_ended() {
    if (until_reboot_.empty()) return Change::unchanged;
    const UntilReboot kept = std::exchange(until_reboot_, {});
    instances_.clear();
    for (Gpu& gpu : gpus_)
        if (const auto its = kept.gpus.find(gpu.uuid); its != kept.gpus.end()) gpu.settings = its->second;
    if (kept.default_memory) default_memory_ = *kept.default_memory;
    return changed();
}

}  // namespace cgpu::model
