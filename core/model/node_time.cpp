#include <algorithm>

#include "core/model/node.hpp"

/// The time limits of instances, and those that ended by them.
namespace cgpu::model {

const Spent* Node::find_spent(const InstanceId& id) const {
    const auto found = std::ranges::find(spent(), id, &Spent::id);
    return found == spent().end() ? nullptr : &*found;
}

tl::expected<Change, Refusal> Node::set_time(const InstanceId& id, const TimeLimit& time) {
    const auto instance = instance_for("the time of " + describe_instance(id), id);
    if (!instance) return tl::unexpected(instance.error());
    if ((*instance)->time == time) return Change::unchanged;
    (*instance)->time = time;
    return changed();
}

tl::expected<Change, Refusal> Node::set_idle(const InstanceId& id, const IdleLimit& idle) {
    const auto instance = instance_for("the time without work of " + describe_instance(id), id);
    if (!instance) return tl::unexpected(instance.error());
    if ((*instance)->idle == idle) return Change::unchanged;
    (*instance)->idle = idle;
    return changed();
}

tl::expected<Change, Refusal> Node::grant_spent(const InstanceId& id, std::uint64_t seconds) {
    if (find_spent(id) == nullptr)
        return refuse(Refusal::Reason::not_found, "instance " + id.short_id(), "its time isn't over",
                      "use an id that cgpuctl list shows");
    std::ranges::find(spent_.own(), id, &Spent::id)->granted = seconds;
    return changed();
}

void Node::note_spent(const Instance& ended) {
    if (!is_ending(ended)) return;
    auto& all = spent_.own();
    std::erase_if(all, [&](const Spent& each) { return each.id == ended.id; });
    if (all.size() >= kMostSpent) all.erase(all.begin());
    // The state is written as a whole at every change, and names may be long.
    const bool is_short = ended.name.size() <= kMaxKeptName;
    Spent spent{ended.id, is_short ? ended.name : std::string(), ended.owner};
    spent.seconds = ended.time ? ended.time->seconds : 0;
    spent.idle = ended.idle && ended.idle->over() ? ended.idle->seconds : 0;
    all.push_back(std::move(spent));
}

void Node::forget_spent(const InstanceId& id) {
    if (find_spent(id) != nullptr)
        std::erase_if(spent_.own(), [&](const Spent& each) { return each.id == id; });
}

}  // namespace cgpu::model
