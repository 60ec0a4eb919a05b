#include "daemon/bus/objects/gpu_view.hpp"

#include "core/model/policy.hpp"
#include "core/model/utf8.hpp"
#include "daemon/bus/message/paths.hpp"

namespace cgpu::bus {

GpuView view_of(const model::Occupancy& now, const model::Gpu& gpu, std::optional<model::Mode> mode) {
    GpuView view;
    view.uuid = gpu.uuid.to_string();
    view.index = gpu.index;
    view.model = model::valid_utf8(gpu.model_name);
    view.present = gpu.present;
    view.drained = gpu.drained;
    view.obstacle = model::valid_utf8(gpu.obstacle);
    view.memory_total = gpu.total.count();
    view.memory_allocated = now.allocated(gpu.uuid).count();
    view.policy = static_cast<std::uint32_t>(gpu.settings.policy);
    view.policy_name = model::to_string(gpu.settings.policy);
    view.max_inst = gpu.settings.max_inst;
    view.free_weight = now.free_weight(gpu);
    view.prio_ratio = gpu.settings.prio_ratio;
    const auto& there = now.on(gpu.uuid);
    view.mode = model::to_string(there.empty() && mode ? *mode : now.mode_in_force(gpu));
    view.instances.reserve(there.size());
    for (const model::Occupant& occupant : there) view.instances.push_back(path_of(occupant.instance->id));
    return view;
}

std::vector<compat::PropertyName> changed_properties(const GpuView& before, const GpuView& after) {
    std::vector<compat::PropertyName> names;
    const auto add_if = [&names](bool differs, const char* name) {
        if (differs) names.emplace_back(name);
    };
    add_if(before.index != after.index, "Index");
    add_if(before.present != after.present, "Present");
    add_if(before.drained != after.drained, "Drained");
    add_if(before.obstacle != after.obstacle, "Obstacle");
    add_if(before.memory_total != after.memory_total, "MemoryTotal");
    add_if(before.memory_allocated != after.memory_allocated, "MemoryAllocated");
    add_if(before.policy != after.policy, "Policy");
    add_if(before.policy_name != after.policy_name, "PolicyName");
    add_if(before.max_inst != after.max_inst, "MaxInst");
    add_if(before.free_weight != after.free_weight, "FreeWeight");
    add_if(before.prio_ratio != after.prio_ratio, "PrioRatio");
    add_if(before.mode != after.mode, "Mode");
    add_if(before.instances != after.instances, "Instances");
    return names;
}

}  // namespace cgpu::bus
