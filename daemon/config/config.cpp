#include "daemon/config/config.hpp"

namespace cgpu::config {

void GpuPatch::apply_to(model::GpuSettings& settings) const {
    settings.policy = policy.value_or(settings.policy);
    settings.max_inst = max_inst.value_or(settings.max_inst);
    settings.prio_ratio = prio_ratio.value_or(settings.prio_ratio);
    settings.mode = mode.value_or(settings.mode);
}

model::GpuSettings Config::settings_for(const model::SeenGpu& gpu) const {
    model::GpuSettings settings = gpu_defaults;
    if (const auto it = gpus_by_index.find(gpu.index); it != gpus_by_index.end())
        it->second.apply_to(settings);
    if (const auto it = gpus_by_uuid.find(gpu.uuid); it != gpus_by_uuid.end()) it->second.apply_to(settings);
    return settings;
}

}  // namespace cgpu::config
