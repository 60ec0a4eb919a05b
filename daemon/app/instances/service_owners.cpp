#include "core/model/quote.hpp"
#include "core/request/request.hpp"
#include "daemon/app/instances/service.hpp"

/// What owners may have, and how they call it.
namespace cgpu::app {

using model::Refusal;

Result<std::optional<limits::Allowance>> Service::allowance_of(const model::Owner& owner) const {
    if (outside_.limits == nullptr) return std::nullopt;
    return outside_.limits->allowance(node(), owner);
}

Result<void> Service::check(const Options& options) {
    const auto checked = state_.change(
        [](model::Node&) -> tl::expected<model::Change, model::Refusal> { return model::Change::unchanged; },
        options);
    if (!checked) return tl::unexpected(checked.error());
    return {};
}

void Service::prepare(const model::Owner& owner, std::function<void(const Result<void>&)> done) {
    if (outside_.limits == nullptr) return done({});
    outside_.limits->prepare(owner, std::move(done));
}

Result<void> Service::rename(const model::InstanceId& id, const std::string& name, const Options& options) {
    const auto* instance = node().find_instance(id);
    const std::string what =
        "renaming " + (instance != nullptr ? model::describe(*instance) : "instance " + id.short_id());
    if (instance == nullptr)
        return model::refuse(Refusal::Reason::not_found, what, "it has ended",
                             "use an id that cgpuctl list shows");
    if (options.only_lowered_of && instance->owner.user != options.only_lowered_of)
        return model::refuse(Refusal::Reason::not_permitted, what, "it is another user's",
                             "do the same as root (sudo)");
    if (name.empty())
        return model::refuse(Refusal::Reason::invalid, what, "a name has one character at least",
                             "cgpuctl rename " + id.short_id() + " train");
    if (auto checked = check_name(id, name); !checked) return checked;
    if (!instance->image.empty())
        return model::refuse(Refusal::Reason::unsupported, what,
                             "it is a container, which has the name that its engine gives it",
                             "give the container its name when it is made (docker run --name)");
    const std::string before = instance->name;
    const auto changed = state_.change([&](model::Node& node) { return node.rename(id, name); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (!*changed) return {};
    const auto& renamed = *node().find_instance(id);
    Event event = event_of(EventType::setting_changed, log::Level::info, renamed,
                           model::describe(renamed) + ": it was called " +
                               (before.empty() ? "nothing" : model::quote(before)) + " before");
    set_owner(event, renamed.owner);
    if (options.by) event.message += ", by " + describe(*options.by);
    event.by = options.by;
    event.details["setting"] = std::string("name");
    event.details["before"] = before;
    event.details["after"] = name;
    outside_.events.happened(std::move(event));
    outside_.publisher.instance_changed(id);
    return {};
}

void Service::describe_limits(const std::string& word, std::uint32_t caller,
                              std::function<void(const Result<view::Limits>&)> done) {
    const auto own = std::to_string(caller);
    if (outside_.limits == nullptr) return done(view::Limits{});
    const bool of_another = caller != 0 && !word.empty() && word != own && word != "containers";
    if (of_another)
        // A user may say the own name, too.
        done = [this, word, caller, done = std::move(done)](const Result<view::Limits>& limits) {
            if (!limits || outside_.limits->is_called(caller, word)) return done(limits);
            done(model::refuse(Refusal::Reason::not_permitted, "limits of user " + model::quote(word),
                               "only root may ask for another user's", "cgpuctl limits, for your own"));
        };
    outside_.limits->describe(
        word.empty() || of_another ? own : word, [this]() -> const model::Node& { return node(); },
        std::move(done));
}

}  // namespace cgpu::app
