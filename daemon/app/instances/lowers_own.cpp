#include "daemon/app/instances/node_changes.hpp"
#include "daemon/app/ports/lookup.hpp"

namespace cgpu::app {

bool lowers_own(const model::Node& node, const QuotaChange& change, std::uint32_t user) {
    const auto* word = std::get_if<std::string>(&change.instance);
    const auto id = word != nullptr ? find_instance(node, *word, {user, true})
                                    : Result<model::InstanceId>(std::get<model::InstanceId>(change.instance));
    if (!id || change.revert || node.find_instance(*id) == nullptr) return false;
    const model::Instance& instance = *node.find_instance(*id);
    if (instance.owner.user != user) return false;
    model::Node next = node;
    for (const model::Quota& quota : instance.quotas) {
        const auto gpu = change.gpu.empty() ? Result<model::Uuid>(quota.gpu) : find_gpu(node, change.gpu);
        if (!gpu || *gpu != quota.gpu) continue;
        if (change.memory_limit && *change.memory_limit > quota.memory_limit) return false;
        if (change.weight && *change.weight > quota.weight) return false;
        if (change.percent && next.set_percent(*id, *gpu, *change.percent) &&
            next.find_instance(*id)->quota_on(*gpu)->weight > quota.weight)
            return false;
        if (change.high_priority.value_or(false) && !quota.high_priority) return false;
    }
    return true;
}

bool means_no_single_one(const model::Node& node, const QuotaChange& change) {
    const auto* word = std::get_if<std::string>(&change.instance);
    return word != nullptr && !find_instance(node, *word);
}

}  // namespace cgpu::app
