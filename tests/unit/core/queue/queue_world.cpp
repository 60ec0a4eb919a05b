#include "tests/unit/core/queue/queue_world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace cgpu::test {

using queue::Nanos;

void QueueWorld::run(model::Instance instance, std::optional<Nanos> length, std::optional<Nanos> lasts) {
    const auto id = instance.id;
    if (!node_.add_instance(std::move(instance))) return;
    if (length) limits_[id] = ends_[id] = now_ + *length;
    if (!length && lasts) ends_[id] = now_ + *lasts;
}

queue::Ticket QueueWorld::ask(queue::Waiting waiting, std::optional<Nanos> lasts) {
    const auto ticket = queue_.add(std::move(waiting));
    if (lasts) lasts_[ticket] = *lasts;
    return ticket;
}

limits::Allowance QueueWorld::allowance_of(const model::Node& node, const model::Owner& owner) const {
    return {node, rules, {limits::Holder::Kind::user, owner.user.value_or(0), "", {}}};
}

queue::Decision QueueWorld::next() const {
    const auto order = queue::in_order(queue_);
    const queue::AllowanceOf allowance = [this](const model::Node& node, const model::Owner& owner) {
        return tl::expected<std::optional<limits::Allowance>, model::Refusal>(allowance_of(node, owner));
    };
    return queue::next({node_, limits_, now_, order, defaults, allowance}, bounds);
}

void QueueWorld::start(const queue::Start& start) {
    const auto waiting = queue_.remove(start.ticket);
    const auto id = model::InstanceId::parse("r" + std::to_string(start.ticket)).value();
    model::Instance instance{id, "", 0, 0, start.grant.mode, start.grant.quotas, std::nullopt};
    instance.owner = waiting->owner;
    if (!allowance_of(node_, waiting->owner).check_instance(instance.quotas))
        throw std::logic_error("the limits don't allow " + id.str());
    if (const auto added = node_.add_instance(instance); !added) throw std::logic_error(added.error().text);
    starts_[start.ticket] = now_;
    if (waiting->length)
        limits_[id] = ends_[id] = now_ + *waiting->length;
    else if (const auto lasts = lasts_.find(start.ticket); lasts != lasts_.end())
        ends_[id] = now_ + lasts->second;
}

queue::Decision QueueWorld::settle() {
    while (true) {
        auto decision = next();
        if (decision.starts.empty()) return decision;
        for (const auto& each : decision.starts) start(each);
    }
}

bool QueueWorld::step() {
    if (ends_.empty()) return false;
    now_ = std::ranges::min_element(ends_, {}, [](const auto& end) { return end.second; })->second;
    for (auto end = ends_.begin(); end != ends_.end();) {
        if (end->second > now_) {
            ++end;
            continue;
        }
        if (!node_.remove_instance(end->first)) throw std::logic_error("it isn't there");
        limits_.erase(end->first);
        end = ends_.erase(end);
    }
    settle();
    return true;
}

void QueueWorld::wait_until(Nanos at) {
    while (std::ranges::any_of(ends_, [&](const auto& end) { return end.second <= at; })) step();
    now_ = at;
    settle();
}

}  // namespace cgpu::test
