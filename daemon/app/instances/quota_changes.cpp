#include "daemon/app/instances/quota_changes.hpp"

#include <utility>

#include "daemon/app/ports/log.hpp"
#include "daemon/app/ports/lookup.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

/// In cGPU's contract a weight switches the GPU to policy 2; here the administrator decides, and is informed.
void say_where_weight_is_idle(const model::Node& node, const model::Instance& instance) {
    for (const auto& quota : instance.quotas) {
        const auto* gpu = node.find_gpu(quota.gpu);
        if (!gpu || quota.weight <= 1) continue;
        const auto policy = node.policy_in_force(*gpu);
        if (!model::weight_counts(policy))
            log::info(log::about(instance), "{}: weight {} has no effect on GPU {} under policy {}",
                      model::describe(instance), quota.weight, gpu->index, model::to_string(policy));
    }
}

}  // namespace

Result<bool> QuotaChanges::change(const model::InstanceId& id, const model::Uuid& gpu,
                                  const model::KeptFigures& figures, const NodeState::Transition& transition,
                                  Options options) {
    return state_.change(
        [&](model::Node& node) -> tl::expected<model::Change, Refusal> {
            auto set = transition(node);
            if (!set || !options.persist) return set;
            auto kept = node.keep(id, gpu, figures);
            if (!kept || *kept == model::Change::changed) return kept;
            return set;
        },
        options);
}

Result<void> QuotaChanges::set_weight(const model::InstanceId& id, std::string_view gpu, std::uint32_t weight,
                                      Options options) {
    const auto uuid = find_gpu_of(state_.node(), id, gpu);
    if (!uuid) return tl::unexpected(uuid.error());
    const auto changed = change(
        id, *uuid, {std::nullopt, weight, std::nullopt},
        [&](model::Node& node) { return node.set_weight(id, *uuid, weight); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        say_where_weight_is_idle(state_.node(), *state_.node().find_instance(id));
        publisher_.instance_changed(id);
        publisher_.gpu_changed(*uuid);
    }
    return {};
}

Result<void> QuotaChanges::set_high_priority(const model::InstanceId& id, std::string_view gpu, bool high,
                                             Options options) {
    const auto uuid = find_gpu_of(state_.node(), id, gpu);
    if (!uuid) return tl::unexpected(uuid.error());
    const auto changed = change(
        id, *uuid, {std::nullopt, std::nullopt, high},
        [&](model::Node& node) { return node.set_high_priority(id, *uuid, high); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) publisher_.instance_changed(id);
    return {};
}

Result<void> QuotaChanges::set_memory(const model::InstanceId& id, std::string_view gpu, std::uint64_t bytes,
                                      Options options) {
    const auto uuid = find_gpu_of(state_.node(), id, gpu);
    if (!uuid) return tl::unexpected(uuid.error());
    const model::Bytes limit(bytes);
    const model::Bytes in_use(options.force ? 0 : usage_.usage(id, *uuid).memory_used);
    const auto changed = change(
        id, *uuid, {limit, std::nullopt, std::nullopt},
        [&](model::Node& node) { return node.set_memory(id, *uuid, limit, in_use); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        links_.refresh(*state_.node().find_instance(id));
        publisher_.instance_changed(id);
        publisher_.gpu_changed(*uuid);
    }
    return {};
}

Result<void> QuotaChanges::forget(std::string_view name, std::optional<std::uint32_t> owner,
                                  Options options) {
    const auto changed = state_.change([&](model::Node& node) { return node.forget(name, owner); }, options);
    if (!changed) return tl::unexpected(changed.error());
    return {};
}

}  // namespace cgpu::app
