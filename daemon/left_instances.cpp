#include "daemon/left_instances.hpp"

#include <utility>

#include "daemon/app/ports/log.hpp"

namespace cgpu {

LeftInstances::LeftInstances(const Outside& outside, const std::string& boot_id)
    : outside_(outside), left_(outside.records.left(boot_id)), loaded_(outside.service.node().generation()) {
    // A state that is as new, or newer by what was saved last before a crash, decides.
    std::erase_if(left_, [this](const store::InstanceRecord& record) {
        const auto* known = outside_.service.node().find_instance(record.instance.id);
        return known != nullptr &&
               (record.generation <= loaded_ || known->generation != record.instance.generation);
    });
}

void LeftInstances::take_up() {
    std::erase_if(left_, [this](const store::InstanceRecord& record) {
        return outside_.service.take_up(record.instance, record.generation).has_value();
    });
}

void LeftInstances::driver_answered() {
    const bool first = !std::exchange(answered_, true);
    std::erase_if(left_, [&](const store::InstanceRecord& record) {
        const auto taken = outside_.service.take_up(record.instance, record.generation);
        if (!taken && first)
            log::error(log::about(record.instance),
                       "{} runs, the state does not have it so, and it can't be taken up again: {}",
                       model::describe(record.instance), taken.error().text);
        return taken.has_value();
    });
    if (first) forget_others();
}

void LeftInstances::forget_others() {
    std::vector<app::InstanceKey> left;
    for (const auto& record : left_) left.push_back(app::key_of(record.instance));
    std::vector<model::InstanceId> known;
    for (const auto& [id, instance] : outside_.service.node().instances()) known.push_back(id);
    outside_.leases.drop_rest(left);
    outside_.link.forget_unknown(known);
    outside_.records.drop_rest(left_);
    outside_.descriptors.forget_rest();
}

}  // namespace cgpu
