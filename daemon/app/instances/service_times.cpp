#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/ends/course.hpp"
#include "core/model/duration.hpp"
#include "core/model/instance_word.hpp"
#include "core/model/quote.hpp"
#include "daemon/app/instances/service.hpp"

/// How long instances may be there.
namespace cgpu::app {

using model::Refusal;

namespace {

/// As messages name it.
std::string described(const model::Node& node, const model::InstanceId& id) {
    if (const auto* instance = node.find_instance(id)) return model::describe(*instance);
    const auto* spent = node.find_spent(id);
    if (spent == nullptr || spent->name.empty()) return "instance " + id.short_id();
    return "instance " + id.short_id() + " (" + model::quote(spent->name) + ")";
}

std::string described_new(const model::InstanceId& id, const std::string& name) {
    return "instance " + id.short_id() + (name.empty() ? std::string() : " (" + model::quote(name) + ")");
}

/// Of who asks for no such time: the shorter one of the configuration's and the rule's.
std::optional<std::uint64_t> seconds_of_default(const std::optional<std::uint64_t>& configured,
                                                const std::optional<limits::Part<std::uint64_t>>& rule) {
    const auto seconds =
        std::min(configured.value_or(limits::kUnlimitedTime), rule ? rule->most : limits::kUnlimitedTime);
    if (seconds == limits::kUnlimitedTime) return std::nullopt;
    return seconds;
}

std::string text_of_extended(const model::Instance& instance, std::uint64_t seconds, bool called_off) {
    std::string text;
    if (called_off)
        text = ": it isn't ended, and may be without work for " +
               model::format_duration(instance.idle->seconds) + " again";
    if (instance.time)
        text += std::string(called_off ? "; " : ": ") + "its time is extended by " +
                model::format_duration(seconds) + ", to " + model::format_duration(instance.time->seconds) +
                " in all";
    return text;
}

tl::unexpected<Refusal> no_time(const std::string& what) {
    return model::refuse(Refusal::Reason::invalid, what, "it has no time limit, so it goes on anyway",
                         "leave it as it is");
}

}  // namespace

model::TimeLimit Service::limit_of(std::uint64_t seconds) const {
    return {seconds,
            outside_.loop.now() + static_cast<Nanos>(std::min(seconds, model::kLongestDuration)) * kSecond};
}

Result<std::optional<model::TimeLimit>> Service::time_of_new(const model::InstanceId& id,
                                                             const std::string& name,
                                                             const request::Request& request,
                                                             const limits::Allowance* allowance) const {
    const std::string what = described_new(id, name);
    if (const auto* spent = node().find_spent(id)) {
        if (spent->granted > 0) return limit_of(spent->granted);
        return model::refuse(
            Refusal::Reason::not_permitted, what,
            spent->idle > 0 ? "it was ended after " + model::format_duration(spent->idle) + " without work"
                            : "its time of " + model::format_duration(spent->seconds) + " is over",
            "cgpuctl extend " + id.short_id() + " 1h, or make another container");
    }
    if (request.time) {
        if (allowance != nullptr)
            if (const auto allowed = allowance->check_time(*request.time); !allowed)
                return model::refuse(what, allowed.error());
        return limit_of(*request.time);
    }
    const auto seconds =
        seconds_of_default(settings_.time, allowance != nullptr ? allowance->rules().time : std::nullopt);
    if (!seconds) return std::nullopt;
    return limit_of(*seconds);
}

Result<std::optional<model::IdleLimit>> Service::idle_of_new(const model::InstanceId& id,
                                                             const std::string& name,
                                                             const request::Request& request,
                                                             const limits::Allowance* allowance) const {
    if (request.idle && allowance != nullptr)
        if (const auto allowed = allowance->check_idle(*request.idle); !allowed)
            return model::refuse(described_new(id, name), allowed.error());
    const auto seconds =
        request.idle ? request.idle
                     : seconds_of_default(settings_.idle,
                                          allowance != nullptr ? allowance->rules().idle : std::nullopt);
    if (!seconds) return std::nullopt;
    return model::IdleLimit{*seconds};
}

Result<model::InstanceId> Service::find_timed(std::string_view word, const Naming& naming) const {
    auto found = find_instance(word, naming);
    if (found || found.error().reason != Refusal::Reason::not_found) return found;
    std::vector<model::Named> named;
    for (const auto& spent : node().spent()) named.push_back({spent.id.str(), spent.name, spent.owner.user});
    const auto meant = model::meant_by(word, named, naming.user);
    if (meant.empty()) return found;
    if (meant.size() > 1)
        return model::refuse(Refusal::Reason::invalid, "instance " + model::quote(word),
                             "several whose time was over are meant by it",
                             "name one by 12 characters of its id");
    if (model::only_resembles(word, named[meant.front()], naming.user)) return found;
    return node().spent()[meant.front()].id;
}

model::Owner Service::owner_of_timed(const model::InstanceId& id) const {
    if (const auto* instance = node().find_instance(id)) return instance->owner;
    const auto* spent = node().find_spent(id);
    return spent == nullptr ? model::Owner{} : spent->owner;
}

void Service::prepare_extend(const model::InstanceId& id, std::function<void(const Result<void>&)> done) {
    if (outside_.limits == nullptr) return done({});
    outside_.limits->prepare(owner_of_timed(id), std::move(done));
}

Result<void> Service::extend(const model::InstanceId& id, std::uint64_t seconds, Options options) {
    const auto* instance = node().find_instance(id);
    const auto* spent = node().find_spent(id);
    const std::string what = "extending " + described(node(), id);
    if (seconds == 0 || seconds > model::kLongestDuration)
        return model::refuse(Refusal::Reason::invalid, what, "it is no time, or a too long one",
                             model::kDurationExamples);
    if (instance == nullptr && spent == nullptr)
        return model::refuse(Refusal::Reason::not_found, what, "it has ended",
                             "use an id that cgpuctl list shows");
    const bool called_off = instance != nullptr && instance->idle && instance->idle->over();
    if (instance != nullptr && !instance->time && !instance->idle) return no_time(what);
    // Else only its time without work begins anew.
    const bool longer = instance == nullptr || instance->time;
    // What was granted before it is started again was not used yet.
    const auto before = instance == nullptr ? spent->seconds + spent->granted
                        : instance->time    ? instance->time->seconds
                                            : 0;
    if (before + seconds > model::kLongestDuration)
        return model::refuse(Refusal::Reason::invalid, what, "it would have more than ten years",
                             "use a shorter time");
    if (options.only_lowered_of && instance != nullptr && instance->reservation &&
        before + seconds > kLongestHold)
        return model::refuse(
            Refusal::Reason::not_permitted, what,
            "a reservation can be held for " + model::format_duration(kLongestHold) + " in all by its owner",
            "use it, or do the same as root (sudo)");
    if (options.only_lowered_of) {
        const auto owner = owner_of_timed(id);
        if (owner.user != options.only_lowered_of)
            return model::refuse(Refusal::Reason::not_permitted, what, "it is another user's",
                                 "do the same as root (sudo)");
        if (instance != nullptr && longer && queue_ && queue_->counts_on_ends())
            return model::refuse(
                Refusal::Reason::busy, what, "others wait in the queue, and its end says when they start",
                "ask an administrator (org.cgpu1.manage-instance), or cgpuctl queue to see who waits");
        const auto allowance = allowance_of(owner);
        if (!allowance) return tl::unexpected(allowance.error());
        if (*allowance && longer)
            if (const auto allowed = (*allowance)->check_time(before + seconds); !allowed)
                return model::refuse(what, allowed.error());
    }
    const auto now = outside_.loop.now();
    const auto changed = state_.change(
        [&](model::Node& node) -> tl::expected<model::Change, Refusal> {
            if (instance == nullptr) return node.grant_spent(id, spent->granted + seconds);
            if (instance->idle) {
                const auto begun_anew = node.set_idle(id, model::IdleLimit{instance->idle->seconds});
                if (!begun_anew || !longer) return begun_anew;
            }
            return node.set_time(id, ends::extended(*instance->time, seconds, now));
        },
        options);
    if (!changed) return tl::unexpected(changed.error());
    if (!options.dry_run) ends_.begin_idle_anew(id);
    if (!*changed) return {};
    Event event{.type = EventType::setting_changed};
    const auto* extended = node().find_instance(id);
    if (extended != nullptr) {
        event = event_of(EventType::setting_changed, log::Level::info, *extended,
                         described(node(), id) + text_of_extended(*extended, seconds, called_off));
        set_owner(event, extended->owner);
    } else {
        event.message = described(node(), id) + ": it may be started again, for " +
                        model::format_duration(node().find_spent(id)->granted);
    }
    if (options.by) event.message += ", by " + describe(*options.by);
    event.by = options.by;
    event.details["setting"] = std::string(longer ? "time" : "idle");
    event.details["before"] = longer ? model::exact_duration(before) : std::string("over");
    event.details["after"] = model::exact_duration(longer ? before + seconds : extended->idle->seconds);
    outside_.events.happened(std::move(event));
    if (extended != nullptr) outside_.publisher.instance_changed(id);
    return {};
}

}  // namespace cgpu::app
