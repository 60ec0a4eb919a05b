#include "core/model/node.hpp"
#include "core/model/percent.hpp"
#include "core/model/size.hpp"

/// Checks whether a GPU can take one more instance.
namespace cgpu::model {
namespace {

using Reason = Refusal::Reason;
using Checked = tl::expected<void, Objection>;

std::string instances_text(std::size_t n) {
    return std::to_string(n) + (n == 1 ? " instance" : " instances");
}

Checked check_company(const std::vector<Occupant>& there, Mode mode, const Quota& quota) {
    if (there.empty()) return {};
    const Mode served = there.front().instance->mode;
    if (served != mode)
        return object_to(
            Reason::busy, "mode " + std::string(to_string(mode)),
            "the GPU serves " + instances_text(there.size()) + " in mode " + std::string(to_string(served)),
            "use another GPU, wait until " + std::string(there.size() == 1 ? "it has" : "they have") +
                " ended (cgpuctl list), or request mode " + std::string(to_string(served)));
    for (const Occupant& other : there)
        if (other.quota->exclusive)
            return object(Reason::busy, "instance " + other.instance->id.short_id() + " has the whole GPU",
                          "use another GPU");
    if (quota.exclusive)
        return object_to(Reason::busy, "the whole GPU", "it has " + instances_text(there.size()),
                         "request less than 100% of the compute, or use an empty GPU");
    return {};
}

}  // namespace

Checked Node::check_quota(Mode mode, const Quota& quota) const {
    const Gpu* gpu = find_gpu(quota.gpu);
    if (gpu == nullptr || !gpu->present)
        return object(Reason::not_found, "no such GPU on this node", "name a GPU that cgpuctl status shows");
    if (!gpu->obstacle.empty()) return object(Reason::unsupported, gpu->obstacle, "use another GPU");
    if (quota.memory_limit == Bytes{})
        return object(Reason::invalid, "a memory limit of zero", "1MiB or more");
    if (quota.memory_limit > gpu->total)
        return object_to(Reason::no_memory, format_size(quota.memory_limit),
                         "the whole GPU has " + format_mib(gpu->total),
                         "request " + format_mib(gpu->total) + " or less");
    const auto there = occupants_of(quota.gpu);
    if (auto checked = check_company(there, mode, quota); !checked) return checked;
    const std::uint32_t max_inst = gpu->settings.max_inst;
    if (there.size() >= max_inst)
        return object(
            Reason::no_space,
            "it has " + instances_text(there.size()) + " and its max_inst is " + std::to_string(max_inst),
            "use another GPU, stop an instance, or raise max_inst (25 at most)");
    const Bytes free = free_memory(quota.gpu);
    if (quota.memory_limit > free)
        return object_to(
            Reason::no_memory, format_size(quota.memory_limit),
            format_mib(free) + " of " + format_mib(gpu->total) + " is free" +
                (held_unmanaged(quota.gpu) > Bytes{}
                     ? " (unmanaged containers hold " + format_mib(held_unmanaged(quota.gpu)) + ")"
                     : ""),
            (free.mib() > 0 ? "request " + format_mib(free) + " or less, " : "") +
                "use another GPU, or stop an instance");
    if (weight_under(quota, max_inst) != quota.weight)
        return object(Reason::invalid,
                      std::to_string(quota.percent.value_or(0)) + "% of the compute is asked for as weight " +
                          std::to_string(quota.weight) + " of " + std::to_string(max_inst),
                      "use the number of slices of that percentage");
    if (quota.weight > free_weight(quota.gpu))
        return object_to(
            Reason::no_space, "weight " + std::to_string(quota.weight),
            std::to_string(free_weight(quota.gpu)) + " of " + std::to_string(max_inst) + " is free",
            "use a lower weight, or lower the weight of another instance");
    return {};
}

}  // namespace cgpu::model
