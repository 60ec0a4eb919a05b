#include "daemon/app/ends/ends.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/duration.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

using ends::Step;

/// What the disk has refused is tried again.
constexpr Nanos kAgainAfter = kSecond;

std::string seconds_text(Nanos time) {
    return model::format_duration(static_cast<std::uint64_t>(std::max<Nanos>(time, 0) / kSecond));
}

}  // namespace

void Ends::set_settings(const ends::Settings& settings) {
    settings_ = settings;
    update(outside_.node());
}

ends::Next Ends::next_of(const model::Instance& instance) const {
    if (instance.idle && instance.idle->over())
        return instance.idle->closed ? ends::Next{}
                                     : ends::Next{Step::close, instance.idle->ended + settings_.grace};
    if (!instance.time) return {};
    const auto told = told_.find(instance.id);
    // Nobody has to be told of a reservation's end before.
    const bool is_told = instance.reservation || (told != told_.end() && told->second == instance.time->ends);
    return ends::next(*instance.time, is_told, settings_);
}

std::optional<Nanos> Ends::first_due(const model::Node& node) const {
    std::optional<Nanos> first;
    const auto at = [&](Nanos when) { first = first ? std::min(*first, when) : when; };
    for (const auto& [id, instance] : node.instances())
        if (const auto next = next_of(instance); next.step != Step::none) at(next.at);
    for (const auto& [id, idle] : idle_) at(idle.look_at);
    return first;
}

void Ends::update(const model::Node& node) {
    std::erase_if(told_, [&](const auto& each) { return node.find_instance(each.first) == nullptr; });
    std::erase_if(unsaved_, [&](const auto& id) { return node.find_instance(id) == nullptr; });
    // Its time without work begins anew when its end was called off.
    const auto watched = [](const model::Instance* instance) {
        return instance != nullptr && instance->idle && !model::is_ending(*instance);
    };
    std::erase_if(idle_, [&](const auto& each) { return !watched(node.find_instance(each.first)); });
    for (const auto& [id, instance] : node.instances())
        if (watched(&instance) && !idle_.contains(id))
            idle_[id] = ends::first_look(work_of(instance), instance.idle->seconds, outside_.loop.now());
    const auto first = first_due(node);
    if (!first) return timer_.reset();
    if (timer_ && armed_ == *first) return;
    armed_ = *first;
    timer_ = outside_.loop.at(*first, [this] { do_what_is_due(); });
}

void Ends::begin_idle_anew(const model::InstanceId& id) {
    if (idle_.erase(id) > 0) update(outside_.node());
}

void Ends::do_what_is_due() {
    timer_.reset();
    const Nanos now = outside_.loop.now();
    look_at_idle();
    std::vector<std::pair<model::Instance, Step>> due;
    for (const auto& [id, instance] : outside_.node().instances())
        if (const auto next = next_of(instance); next.step != Step::none && next.at <= now)
            due.emplace_back(instance, next.step);
    // By copies: each step changes the node.
    for (const auto& [instance, step] : due) carry_out(instance, step);
    update(outside_.node());
    if (timer_ && armed_ <= now) timer_ = outside_.loop.at(now + kAgainAfter, [this] { do_what_is_due(); });
}

std::optional<ends::Work> Ends::work_of(const model::Instance& instance) const {
    ends::Work all;
    for (const auto& quota : instance.quotas) {
        const auto usage = outside_.usage.usage(instance.id, quota.gpu);
        // Where the driver divides the GPU, and outside the module, nothing is measured. What may not compute
        // isn't idle, and what the driver's samples show beyond the reports is work, too.
        if (!usage.target_share || !usage.processes_outside.empty() || computes_nothing(instance, quota) ||
            usage.at_work || usage.compute_unexplained.value_or(0) > 0)
            return std::nullopt;
        all.launches += usage.launches;
        all.gpu_time += usage.gpu_time;
        all.waited += usage.waited;
    }
    return all;
}

void Ends::look_at_idle() {
    const Nanos now = outside_.loop.now();
    std::vector<model::Instance> over;
    for (auto& [id, idle] : idle_) {
        const auto* instance = outside_.node().find_instance(id);
        if (idle.look_at > now || instance == nullptr) continue;
        const auto seconds = instance->idle->seconds;
        idle = ends::next_look(idle, work_of(*instance), seconds, now);
        if (ends::is_over(idle, seconds, now)) {
            over.push_back(*instance);
        } else if (ends::is_to_tell(idle, seconds, settings_.soon, now)) {
            idle.told = true;
            tell_idle(*instance, idle);
        }
    }
    for (const auto& instance : over) end_idle(instance);
}

void Ends::carry_out(const model::Instance& instance, Step step) {
    switch (step) {
        case Step::none:
            return;
        case Step::tell_soon:
            return tell_soon(instance);
        case Step::end:
            return instance.reservation ? give_up(instance) : end(instance);
        case Step::close:
            return close(instance);
    }
}

bool Ends::may_signal(const model::Instance& instance) const {
    return outside_.stops.possible(instance).has_value();
}

void Ends::tell(const model::Instance& instance, const std::string& what, std::uint64_t left,
                const Reason& reason) {
    auto event = event_of(EventType::ends_soon, log::Level::warn, instance, model::describe(instance) + what);
    event.details["left"] = left;
    event.details["time"] = reason.seconds;
    event.details["reason"] = std::string(reason.name);
    set_owner(event, instance.owner);
    outside_.events.happened(std::move(event));
}

void Ends::tell_soon(const model::Instance& instance) {
    told_[instance.id] = instance.time->ends;
    const auto left = ends::left(*instance.time, outside_.loop.now());
    tell(instance,
         ": its time of " + model::format_duration(instance.time->seconds) + " is over in " +
             model::format_duration(left),
         left, {"time", instance.time->seconds});
}

void Ends::tell_idle(const model::Instance& instance, const ends::Idle& idle) {
    const auto seconds = instance.idle->seconds;
    const Nanos now = outside_.loop.now();
    const auto left =
        static_cast<std::uint64_t>((ends::ends_at(idle, seconds) - now + kSecond - 1) / kSecond);
    tell(instance,
         ": it had no work for " + seconds_text(now - idle.since) + ", and is ended in " +
             model::format_duration(left) + " if it goes on like this",
         left, {"idle", seconds});
}

void Ends::give_up(const model::Instance& reservation) {
    auto event = event_of(EventType::time_over, log::Level::warn, reservation,
                          model::describe(reservation) + ": nobody has used the reservation within " +
                              model::format_duration(reservation.time->seconds) + ", so its part is free");
    event.details["time"] = reservation.time->seconds;
    event.details["reason"] = std::string("time");
    event.details["end"] = std::string("unused");
    set_owner(event, reservation.owner);
    outside_.remove(reservation.id);
    // Else the disk has refused it, and it is tried again.
    if (outside_.node().find_instance(reservation.id) == nullptr) outside_.events.happened(std::move(event));
}

bool Ends::put(const model::Instance& instance, const model::Transition& transition) {
    const auto changed = outside_.change(transition);
    if (changed) {
        unsaved_.erase(instance.id);
        return true;
    }
    if (unsaved_.insert(instance.id).second)
        log::error(outside_.events.about(instance.id),
                   "instance {}: its time is over, and that can't be saved: {}", instance.id.short_id(),
                   changed.error().text);
    return false;
}

void Ends::end(const model::Instance& instance) {
    auto time = *instance.time;
    time.over = true;
    if (!put(instance, [&](model::Node& node) { return node.set_time(instance.id, time); })) return;
    ask(instance, "its time of " + model::format_duration(time.seconds) + " is over", {"time", time.seconds});
}

void Ends::end_idle(const model::Instance& instance) {
    auto idle = *instance.idle;
    idle.ended = std::max<Nanos>(outside_.loop.now(), 1);
    if (!put(instance, [&](model::Node& node) { return node.set_idle(instance.id, idle); })) return;
    ask(instance, "it had no work for " + model::format_duration(idle.seconds), {"idle", idle.seconds});
}

void Ends::ask(const model::Instance& instance, const std::string& why, const Reason& reason) {
    const bool signals = may_signal(instance);
    const std::string grace = seconds_text(settings_.grace);
    auto event =
        event_of(EventType::time_over, log::Level::warn, instance,
                 model::describe(instance) + ": " + why + "; " +
                     (signals ? "its processes get SIGTERM now, and after " + grace + " SIGKILL"
                              : "cgpud may not signal its processes (kill.conf, see cgpud(8)), so after " +
                                    grace + " it keeps its memory and computes nothing"));
    event.details["time"] = reason.seconds;
    event.details["reason"] = std::string(reason.name);
    event.details["end"] = std::string(signals ? "signals" : "gate");
    set_owner(event, instance.owner);
    outside_.events.happened(std::move(event));
    if (signals)
        if (const auto asked = outside_.stops.ask(instance.id); !asked)
            log::info(log::about(instance), "{}", asked.error().text);
    outside_.changed(instance.id);
}

void Ends::close(const model::Instance& instance) {
    const auto closed = [&](model::Node& node) {
        if (instance.idle && instance.idle->over()) {
            auto idle = *instance.idle;
            idle.closed = true;
            return node.set_idle(instance.id, idle);
        }
        auto time = *instance.time;
        time.closed = true;
        return node.set_time(instance.id, time);
    };
    if (!put(instance, closed)) return;
    if (may_signal(instance))
        if (const auto killed = outside_.stops.kill_all(instance.id); !killed)
            log::info(log::about(instance), "{}", killed.error().text);
    outside_.changed(instance.id);
}

queue::Ends Ends::known() const {
    queue::Ends all;
    std::optional<bool> may;  // the same of all: each answer reads a file
    for (const auto& [id, instance] : outside_.node().instances()) {
        if (!instance.time) continue;
        if (!may) may = may_signal(instance);
        if (!*may) return {};
        auto ends = instance.time->ends + settings_.grace;
        if (instance.reservation) {
            // It may be taken over in its last moment.
            if (!instance.reservation->time) continue;
            ends += static_cast<Nanos>(*instance.reservation->time) * kSecond;
        }
        all.emplace(id, ends);
    }
    return all;
}

}  // namespace cgpu::app
