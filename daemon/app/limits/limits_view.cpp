#include "daemon/app/limits/limits_view.hpp"

#include <string>

namespace cgpu::app {
namespace {

std::optional<std::uint64_t> most_of(std::uint32_t count) {
    return count == limits::kUnlimited ? std::nullopt : std::optional<std::uint64_t>(count);
}

std::optional<std::uint64_t> most_of(std::uint64_t seconds) {
    return seconds == limits::kUnlimitedTime ? std::nullopt : std::optional(seconds);
}

std::optional<std::uint64_t> most_of(model::Bytes bytes) {
    return bytes == limits::kUnlimitedMemory ? std::nullopt : std::optional(bytes.count());
}

}  // namespace

view::Limits view_of(const model::Node& node, const limits::Allowance& allowance) {
    const auto& rules = allowance.rules();
    const auto& held = allowance.held();
    view::Limits all;
    all.holder = describe(allowance.holder());
    if (allowance.holder().kind == limits::Holder::Kind::user) all.user = allowance.holder().user;
    all.instances = held.instances;
    const auto add = [&](const char* name, const char* unit, const auto& part, std::uint64_t used) {
        if (part) all.limits.push_back({name, std::nullopt, unit, most_of(part->most), used, part->key});
    };
    /// `used`: of what is held of a GPU.
    const auto add_each = [&](const char* name, const char* unit, const auto& part, const auto& used) {
        if (part && held.gpus.empty()) add(name, unit, part, 0);
        if (!part) return;
        for (const auto& [uuid, its] : held.gpus)
            if (const auto* gpu = node.find_gpu(uuid))
                all.limits.push_back(
                    {name, gpu->index, unit, most_of(part->most), used(*gpu, its), part->key});
    };
    add("instances", "instances", rules.instances, held.instances.size());
    add("gpus", "gpus", rules.gpus, held.gpus.size());
    add("memory", "bytes", rules.memory, held.memory().count());
    add_each("memory_per_gpu", "bytes", rules.memory_per_gpu,
             [](const auto&, const limits::HeldOnGpu& its) { return its.memory.count(); });
    add_each("compute", "percent", rules.compute, [](const model::Gpu& gpu, const limits::HeldOnGpu& its) {
        return std::uint64_t{its.weight} * 100 / gpu.settings.max_inst;
    });
    add("time", "seconds", rules.time, 0);
    add("idle", "seconds", rules.idle, 0);
    if (rules.priority)
        all.limits.push_back(
            {"priority", std::nullopt, "truth", rules.priority->most ? 1U : 0U, 0, rules.priority->key});
    return all;
}

}  // namespace cgpu::app
