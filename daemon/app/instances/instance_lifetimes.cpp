#include "daemon/app/instances/instance_lifetimes.hpp"

#include <algorithm>

#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

/// How long a restarted daemon waits for the Attach of an instance that was created before it was started.
constexpr Nanos kAttachPatience = 30'000'000'000;
/// The longest time that the driver needs to free the memory of an ended process.
constexpr Nanos kEndingTakes = 2'000'000'000;
/// Processes that are killed together have all ended after this time.
constexpr Nanos kOthersEndWithin = 200'000'000;
constexpr Nanos kSaveAgainAfter = kSecond;

}  // namespace

bool InstanceLifetimes::someone_is_ending() const {
    const auto now = outside_.loop.now();
    for (const auto& [id, instance] : state_.node().instances()) {
        if (const auto ended = ended_.find(id); ended != ended_.end()) {
            // If it takes longer, the instance isn't ending: a child that lives on holds the memory.
            if (now - ended->second < kEndingTakes) return true;
        } else if (instance.attached && !outside_.processes.alive(*instance.attached)) {
            return true;
        }
    }
    return false;
}

void InstanceLifetimes::watch_end(const model::InstanceId& id, const model::Process& process) {
    ends_[id] = outside_.processes.on_exit(process, [this, id] { process_ended(id); });
}

void InstanceLifetimes::process_ended(const model::InstanceId& id) {
    const auto* instance = state_.node().find_instance(id);
    if (!instance) return;
    unsaved_.erase(id);
    ended_.try_emplace(id, outside_.loop.now());
    // It tells later how the process ended.
    if (const auto end = ends_.find(id); end != ends_.end() && !last_ends_.contains(id))
        last_ends_[id] = std::move(end->second);
    if (!instance->attached) return end_if_idle(id);
    find_member(id, [this, id](const std::optional<model::Process>& member) {
        if (!member) return end_if_idle(id);
        // The job went to the background; or the other processes are ending as well, as when a container is
        // killed.
        ends_[id] =
            outside_.loop.at(outside_.loop.now() + kOthersEndWithin, [this, id] { go_on_with_another(id); });
    });
}

/// A job within a job isn't the outer one's process, though it has its mounts, too.
void InstanceLifetimes::find_member(const model::InstanceId& id, FoundProcess call) {
    std::vector<model::Process> others;
    for (const auto& [other, instance] : state_.node().instances())
        if (other != id && instance.attached && !ended_.contains(other)) others.push_back(*instance.attached);
    searches_[id] = outside_.links.find_member(id, std::move(others), std::move(call));
}

void InstanceLifetimes::go_on_with_another(const model::InstanceId& id) {
    find_member(id, [this, id](const std::optional<model::Process>& member) {
        if (member && !is_over(id)) return go_on_with(id, *member);
        end_if_idle(id);
    });
}

/// Whoever kills a job means it to end, and what it leaves behind without a use of the GPU is no job: a shell
/// script that is killed leaves the command that it was waiting for. A job that goes to the background ends
/// its first process itself.
bool InstanceLifetimes::is_over(const model::InstanceId& id) const {
    const auto end = last_ends_.find(id);
    return end != last_ends_.end() && end->second && end->second->killed() && outside_.links.idle(id);
}

void InstanceLifetimes::go_on_with(const model::InstanceId& id, const model::Process& process) {
    if (!state_.node().find_instance(id)) return;
    ended_.erase(id);
    last_ends_.erase(id);
    watch_end(id, process);
    save_member(id, process);
}

void InstanceLifetimes::save_member(const model::InstanceId& id, const model::Process& process) {
    const auto* instance = state_.node().find_instance(id);
    if (!instance) return;
    const auto changed = state_.change([&](model::Node& node) { return node.go_on_with(id, process); }, {});
    if (changed) {
        const auto& now = *state_.node().find_instance(id);
        log::info(log::about(now), "{}: its process has ended, it goes on with process {}",
                  model::describe(now), process.pid);
        outside_.links.refresh(now);
        outside_.publisher.instance_changed(id);
        unsaved_.erase(id);
        return;
    }
    // The instance lives on all the same, and a restarted daemon finds that process, too.
    if (!unsaved_.contains(id))
        log::error(log::about(*instance), "{}: its process has ended, and the state still has that one: {}",
                   model::describe(*instance), changed.error().text);
    unsaved_[id] = outside_.loop.at(outside_.loop.now() + kSaveAgainAfter,
                                    [this, id, process] { save_member(id, process); });
}

void InstanceLifetimes::end_if_idle(const model::InstanceId& id) {
    // Otherwise the driver still shows memory of it, and the link reports when that is gone.
    if (outside_.links.idle(id)) end(id);
}

void InstanceLifetimes::link_idle(const model::InstanceId& id) {
    if (ended_.contains(id)) process_ended(id);
}

void InstanceLifetimes::end(const model::InstanceId& ended) {
    const auto* found = state_.node().find_instance(ended);
    if (!found) return;
    // `ended` may belong to the link, which is removed.
    const auto instance = *found;
    const auto& id = instance.id;
    const auto removed = remove(instance);
    if (removed) return;
    if (!retries_.contains(id))
        log::error(log::about(instance), "{} has ended but stays listed: {}", model::describe(instance),
                   removed.error().text);
    retries_[id] = outside_.loop.at(outside_.loop.now() + kSaveAgainAfter, [this, id] { end(id); });
}

Result<void> InstanceLifetimes::release(const model::InstanceId& id) {
    const auto* found = state_.node().find_instance(id);
    if (!found) return {};
    const auto instance = *found;
    return remove(instance);
}

Result<void> InstanceLifetimes::remove(const model::Instance& instance) {
    const auto& id = instance.id;
    const auto changed = state_.change([&](model::Node& node) { return node.remove_instance(id); }, {});
    if (!changed) return tl::unexpected(changed.error());
    replaced(instance, model::describe(instance) + ": gone");
    return {};
}

void InstanceLifetimes::replaced(const model::Instance& instance, std::string message) {
    const auto& id = instance.id;
    if (instance.creator) ended_ids_.add(id, *instance.creator);
    outside_.links.close(id);
    ended_events_.happened(instance.creator.value_or(0), event_of(EventType::instance_ended, log::Level::info,
                                                                  instance, std::move(message)));
    outside_.events.instance_forgotten(id);
    // No GPU names an instance that isn't there.
    outside_.publisher.gpus_changed();
    outside_.publisher.instance_removed(id);
    ended_.erase(id);
    ends_.erase(id);
    last_ends_.erase(id);
    searches_.erase(id);
    retries_.erase(id);
    unsaved_.erase(id);
    outside_.admission.instances_changed();
}

void InstanceLifetimes::adopt() {
    const auto instances = state_.node().instances();
    for (const auto& [id, instance] : instances) adopt(instance);
}

void InstanceLifetimes::adopt(const model::Instance& instance) {
    const auto& id = instance.id;
    const auto folder = outside_.links.open(instance);
    if (!folder)
        log::error(log::about(instance), "{}: its link can't be opened again: {}", model::describe(instance),
                   folder.error().text);
    // With or without a link, the instance ends with its process.
    if (instance.attached)
        watch_end(id, *instance.attached);
    else if (!instance.reservation)
        ends_[id] = outside_.loop.at(outside_.loop.now() + patience_with(instance),
                                     [this, id] { process_ended(id); });
    outside_.events.instance_known(instance);
    if (folder)
        outside_.events.happened(event_of(EventType::instance_resumed, log::Level::info, instance,
                                          model::describe(instance) + ": taken up again"));
}

std::vector<model::Node::Untaken> InstanceLifetimes::take_up(
    const std::vector<model::InstanceRecord>& records) {
    std::vector<model::Node::Untaken> untaken;
    const auto changed = state_.change(
        [&](model::Node& node) -> tl::expected<model::Change, model::Refusal> {
            untaken = node.take_up(records);
            return untaken.size() == records.size() ? model::Change::unchanged : model::Change::changed;
        },
        {});
    if (!changed) {
        untaken.clear();
        for (const auto& record : records) untaken.push_back({record, changed.error()});
        return untaken;
    }
    for (const auto& record : records) {
        const auto is_it = [&](const auto& each) { return each.record.instance.id == record.instance.id; };
        if (std::ranges::any_of(untaken, is_it)) continue;
        adopt(*state_.node().find_instance(record.instance.id));
        outside_.publisher.instance_added(record.instance.id);
    }
    outside_.publisher.gpus_changed();
    outside_.admission.instances_changed();
    return untaken;
}

/// Since it was created, and not since this daemon was started: each restart would hold its memory that much
/// longer. The clock may have been set meanwhile, so it is no more than the whole time.
Nanos InstanceLifetimes::patience_with(const model::Instance& created) const {
    const auto now = outside_.wall_clock();
    const auto passed =
        std::min<std::uint64_t>(now - std::min(created.created, now), kAttachPatience / kSecond);
    return kAttachPatience - static_cast<Nanos>(passed) * kSecond;
}

}  // namespace cgpu::app
