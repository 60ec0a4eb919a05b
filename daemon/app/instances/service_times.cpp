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
    const std::string what =
        "instance " + id.short_id() + (name.empty() ? std::string() : " (" + model::quote(name) + ")");
    if (const auto* spent = node().find_spent(id)) {
        if (spent->granted > 0) return limit_of(spent->granted);
        return model::refuse(Refusal::Reason::not_permitted, what,
                             "its time of " + model::format_duration(spent->seconds) + " is over",
                             "cgpuctl extend " + id.short_id() + " 1h, or make another container");
    }
    if (request.time) {
        if (allowance != nullptr)
            if (const auto allowed = allowance->check_time(*request.time); !allowed)
                return model::refuse(what, allowed.error());
        return limit_of(*request.time);
    }
    auto seconds = settings_.time.value_or(limits::kUnlimitedTime);
    if (allowance != nullptr && allowance->rules().time)
        seconds = std::min(seconds, allowance->rules().time->most);
    if (seconds == limits::kUnlimitedTime) return std::nullopt;
    return limit_of(seconds);
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
    if (instance != nullptr && !instance->time) return no_time(what);
    // What was granted before it is started again was not used yet.
    const auto before = instance != nullptr ? instance->time->seconds : spent->seconds + spent->granted;
    if (before + seconds > model::kLongestDuration)
        return model::refuse(Refusal::Reason::invalid, what, "it would have more than ten years",
                             "use a shorter time");
    if (options.only_lowered_of) {
        const auto owner = owner_of_timed(id);
        if (owner.user != options.only_lowered_of)
            return model::refuse(Refusal::Reason::not_permitted, what, "it is another user's",
                                 "do the same as root (sudo)");
        if (instance != nullptr && queue_ && queue_->counts_on_ends())
            return model::refuse(
                Refusal::Reason::busy, what, "others wait in the queue, and its end says when they start",
                "ask an administrator (org.cgpu1.manage-instance), or cgpuctl queue to see who waits");
        const auto allowance = allowance_of(owner);
        if (!allowance) return tl::unexpected(allowance.error());
        if (*allowance)
            if (const auto allowed = (*allowance)->check_time(before + seconds); !allowed)
                return model::refuse(what, allowed.error());
    }
    const auto now = outside_.loop.now();
    const auto changed = state_.change(
        [&](model::Node& node) -> tl::expected<model::Change, Refusal> {
            if (instance == nullptr) return node.grant_spent(id, spent->granted + seconds);
            return node.set_time(id, ends::extended(*instance->time, seconds, now));
        },
        options);
    if (!changed) return tl::unexpected(changed.error());
    if (!*changed) return {};
    Event event{.type = EventType::setting_changed};
    const auto* extended = node().find_instance(id);
    const std::string by = model::format_duration(seconds);
    if (extended != nullptr) {
        event = event_of(EventType::setting_changed, log::Level::info, *extended,
                         described(node(), id) + ": its time is extended by " + by + ", to " +
                             model::format_duration(extended->time->seconds) + " in all");
        set_owner(event, extended->owner);
    } else {
        event.message = described(node(), id) + ": it may be started again, for " +
                        model::format_duration(node().find_spent(id)->granted);
    }
    if (options.by) event.message += ", by " + describe(*options.by);
    event.by = options.by;
    event.details["setting"] = std::string("time");
    event.details["before"] = model::exact_duration(before);
    event.details["after"] = model::exact_duration(before + seconds);
    outside_.events.happened(std::move(event));
    if (extended != nullptr) outside_.publisher.instance_changed(id);
    return {};
}

}  // namespace cgpu::app
