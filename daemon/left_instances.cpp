#include "daemon/left_instances.hpp"

#include <algorithm>
#include <utility>

#include "daemon/app/ports/log.hpp"

namespace cgpu {
namespace {

using Untaken = std::vector<model::Node::Untaken>;

void tell_taken(const std::vector<model::InstanceRecord>& records, const Untaken& untaken) {
    for (const auto& record : records)
        if (std::ranges::none_of(
                untaken, [&](const auto& each) { return each.record.instance.id == record.instance.id; }))
            log::warn(log::about(record.instance),
                      "{}: the state does not have it so: it has what its record says",
                      model::describe(record.instance));
}

}  // namespace

LeftInstances::LeftInstances(store::InstanceRecords& records, app::Processes& processes,
                             const std::string& boot_id)
    : records_(records), boot_id_(boot_id), left_(records.left(boot_id)) {
    // One whose first process has ended may have others, and may as well be over: it has no part in what
    // those that live for sure need.
    std::stable_partition(left_.begin(), left_.end(), [&](const model::InstanceRecord& record) {
        return processes.alive(*record.instance.attached);
    });
}

bool LeftInstances::complete(model::Node& loaded) {
    // A state that is as new, or newer by what was saved last before a crash, decides.
    std::erase_if(left_, [&](const model::InstanceRecord& record) {
        return loaded.find_instance(record.instance.id) != nullptr &&
               record.generation <= loaded.generation();
    });
    const bool of_another_boot = !loaded.until_reboot().empty() && loaded.boot_id() != boot_id_;
    if (left_.empty() || of_another_boot) return false;
    const auto untaken = loaded.take_up(left_);
    tell_taken(left_, untaken);
    const bool any = untaken.size() < left_.size();
    left_.clear();
    for (const auto& each : untaken) left_.push_back(each.record);
    return any;
}

void LeftInstances::driver_answered(const Outside& outside) {
    const bool first = !std::exchange(answered_, true);
    // What the node has of an id by now is linked, and stays.
    std::erase_if(left_, [&](const model::InstanceRecord& record) {
        return outside.service.node().find_instance(record.instance.id) != nullptr;
    });
    if (!left_.empty()) {
        const auto untaken = outside.service.take_up(left_);
        tell_taken(left_, untaken);
        if (first)
            for (const auto& [record, refusal] : untaken)
                log::error(log::about(record.instance),
                           "{} runs, the state does not have it, and it can't be taken up again: {}",
                           model::describe(record.instance), refusal.text);
        left_.clear();
        for (const auto& each : untaken) left_.push_back(each.record);
    }
    if (first) forget_others(outside);
}

void LeftInstances::forget_others(const Outside& outside) {
    std::vector<app::InstanceKey> left;
    for (const auto& record : left_) left.push_back(app::key_of(record.instance));
    std::vector<model::InstanceId> known;
    for (const auto& [id, instance] : outside.service.node().instances()) known.push_back(id);
    outside.leases.drop_rest(left);
    outside.link.forget_unknown(known);
    records_.drop_rest(left_);
    outside.descriptors.forget_rest();
}

}  // namespace cgpu
