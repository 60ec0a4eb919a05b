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
    const auto told = told_.find(instance.id);
    // Nobody has to be told of a reservation's end before.
    const bool is_told = instance.reservation || (told != told_.end() && told->second == instance.time->ends);
    return ends::next(*instance.time, is_told, settings_);
}

void Ends::update(const model::Node& node) {
    std::erase_if(told_, [&](const auto& each) { return node.find_instance(each.first) == nullptr; });
    bool any = false;
    Nanos first = 0;
    for (const auto& [id, instance] : node.instances()) {
        if (!instance.time) continue;
        const auto next = next_of(instance);
        if (next.step == Step::none || (any && next.at >= first)) continue;
        first = next.at;
        any = true;
    }
    if (!any) return timer_.reset();
    if (timer_ && armed_ == first) return;
    armed_ = first;
    timer_ = outside_.loop.at(first, [this] { do_what_is_due(); });
}

void Ends::do_what_is_due() {
    timer_.reset();
    const Nanos now = outside_.loop.now();
    std::vector<std::pair<model::Instance, Step>> due;
    for (const auto& [id, instance] : outside_.node().instances()) {
        if (!instance.time) continue;
        const auto next = next_of(instance);
        if (next.step != Step::none && next.at <= now) due.emplace_back(instance, next.step);
    }
    // By copies: each step changes the node.
    for (const auto& [instance, step] : due) carry_out(instance, step);
    update(outside_.node());
    if (timer_ && armed_ <= now) timer_ = outside_.loop.at(now + kAgainAfter, [this] { do_what_is_due(); });
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

void Ends::tell_soon(const model::Instance& instance) {
    told_[instance.id] = instance.time->ends;
    const auto left = ends::left(*instance.time, outside_.loop.now());
    auto event = event_of(EventType::ends_soon, log::Level::warn, instance,
                          model::describe(instance) + ": its time of " +
                              model::format_duration(instance.time->seconds) + " is over in " +
                              model::format_duration(left));
    event.details["left"] = left;
    event.details["time"] = instance.time->seconds;
    set_owner(event, instance.owner);
    outside_.events.happened(std::move(event));
}

void Ends::give_up(const model::Instance& reservation) {
    auto event = event_of(EventType::time_over, log::Level::warn, reservation,
                          model::describe(reservation) + ": nobody has used the reservation within " +
                              model::format_duration(reservation.time->seconds) + ", so its part is free");
    event.details["time"] = reservation.time->seconds;
    event.details["end"] = std::string("unused");
    set_owner(event, reservation.owner);
    outside_.events.happened(std::move(event));
    outside_.remove(reservation.id);
}

bool Ends::put(const model::InstanceId& id, const model::TimeLimit& time) {
    const auto changed = outside_.change([&](model::Node& node) { return node.set_time(id, time); });
    if (changed) return true;
    log::error(outside_.events.about(id), "instance {}: its time is over, and that can't be saved: {}",
               id.short_id(), changed.error().text);
    return false;
}

void Ends::end(const model::Instance& instance) {
    auto time = *instance.time;
    time.over = true;
    if (!put(instance.id, time)) return;
    const bool signals = may_signal(instance);
    const std::string grace = seconds_text(settings_.grace);
    auto event = event_of(
        EventType::time_over, log::Level::warn, instance,
        model::describe(instance) + ": its time of " + model::format_duration(time.seconds) + " is over; " +
            (signals ? "its processes get SIGTERM now, and after " + grace + " SIGKILL"
                     : "cgpud may not signal its processes (kill.conf, see cgpud(8)), so after " + grace +
                           " it keeps its memory and computes nothing"));
    event.details["time"] = time.seconds;
    event.details["end"] = std::string(signals ? "signals" : "gate");
    set_owner(event, instance.owner);
    outside_.events.happened(std::move(event));
    if (signals)
        if (const auto asked = outside_.stops.ask(instance.id); !asked)
            log::info(log::about(instance), "{}", asked.error().text);
    outside_.changed(instance.id);
}

void Ends::close(const model::Instance& instance) {
    auto time = *instance.time;
    time.closed = true;
    if (!put(instance.id, time)) return;
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
