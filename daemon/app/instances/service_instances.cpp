// The part of the service that is about the life and death of an instance.

#include <utility>

#include "core/admission/admit.hpp"
#include "core/request/request.hpp"
#include "core/request/unknown_name.hpp"
#include "daemon/app/instances/service.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

/// How long a restarted daemon waits for the Attach of an instance that was created before it died.
constexpr Nanos kAttachPatience = 30'000'000'000;
/// The driver needs so long at most to free what an ended process had.
constexpr Nanos kEndingTakes = 2'000'000'000;
/// Processes that are killed together have all ended after this time.
constexpr Nanos kOthersEndWithin = 200'000'000;
constexpr Nanos kSaveAgainAfter = 1'000'000'000;

Result<model::InstanceId> parse_id(std::string_view id) {
    auto parsed = model::InstanceId::parse(id);
    if (parsed) return *parsed;
    return model::refuse(Refusal::Reason::invalid, "instance id", parsed.error(), "the container's id");
}

/// Who asked while the instance was its own, or not there, and is answered later.
tl::unexpected<Refusal> not_yours(const model::InstanceId& id) {
    return model::refuse(Refusal::Reason::not_permitted, "instance " + id.short_id(),
                         "it was made by another user", "the same as root (sudo)");
}

/// What becomes of a container that isn't managed.
Created unmanaged(const model::InstanceId& id, std::string_view name) {
    return {{id, std::string(name), 0, 0, model::Mode::none, {}, std::nullopt}, {}, {}};
}

}  // namespace

Result<Created> Service::create_instance(std::string_view id, std::string_view name,
                                         const std::map<std::string, std::string>& variables,
                                         const Caller& caller, Options options) {
    const auto parsed_id = parse_id(id);
    if (!parsed_id) return tl::unexpected(parsed_id.error());
    const auto unknown = request::find_unknown_name(variables);
    if (unknown && settings_.unknown_variables == request::UnknownNames::refuse)
        return tl::unexpected(request::refuse_unknown_name(*unknown));
    if (unknown)
        log::warn("instance {} ({}): {}", parsed_id->short_id(), name,
                  request::refuse_unknown_name(*unknown).text);
    auto request = request::parse_request(variables);
    if (!request) return tl::unexpected(request.error());
    if (!*request && unknown) return unmanaged(*parsed_id, name);
    if (!*request)
        return model::refuse(Refusal::Reason::invalid, "instance " + parsed_id->short_id(),
                             "its variables ask for no part of a GPU",
                             "ALIYUN_COM_GPU_MEM_CONTAINER=GiB or CGPU_MEM=SIZE, or start it without cgpu");
    if (const auto open = outside_.admission.open(); !open) return tl::unexpected(open.error());
    (*request)->container_name = std::string(name);
    (*request)->kept = node_.kept_of(caller.user, *parsed_id, (*request)->container_name);
    auto defaults = settings_.defaults;
    defaults.mode = outside_.admission.mode();
    auto grant = admission::admit(node_, **request, defaults);
    if (!grant) return tl::unexpected(worth_another_try(std::move(grant.error())));
    if (!grant->managed()) return unmanaged(*parsed_id, name);
    if (!outside_.processes.alive(caller.process))
        return model::refuse(Refusal::Reason::not_found, "process " + std::to_string(caller.process.pid),
                             "it asked for an instance and has ended", "again");

    model::Instance wanted{*parsed_id,    std::string(name), 0,          outside_.wall_clock(), grant->mode,
                           grant->quotas, std::nullopt,      caller.user};
    const auto add = [&](model::Node& node) { return node.add_instance(wanted); };
    if (options.dry_run) {
        const auto checked = change(add, options);
        if (!checked) return tl::unexpected(checked.error());
        return Created{std::move(wanted), {}, std::move(grant->warnings)};
    }
    // The link comes first: an instance that is on disk can be used.
    auto trial = node_;
    if (auto added = add(trial); !added) return tl::unexpected(worth_another_try(std::move(added.error())));
    auto folder = outside_.links.open(*trial.find_instance(*parsed_id));
    if (!folder) return tl::unexpected(folder.error());
    if (const auto changed = change(add, options); !changed) {
        outside_.links.close(*parsed_id);
        return tl::unexpected(changed.error());
    }
    let_in(*parsed_id, caller.user);
    watch_end(*parsed_id, caller.process);
    const auto& instance = *node_.find_instance(*parsed_id);
    for (const auto& quota : instance.quotas)
        log::info("{}: admitted, GPU {}, {} MiB, weight {}", model::describe(instance), quota.gpu.to_string(),
                  quota.memory_limit.mib(), quota.weight);
    for (const auto& warning : grant->warnings) log::warn("{}: {}", model::describe(instance), warning);
    outside_.publisher.instance_added(instance.id);
    gpus_of_changed(instance);
    outside_.admission.instances_changed();
    return Created{instance, std::move(*folder), std::move(grant->warnings)};
}

Refusal Service::worth_another_try(Refusal refusal) const {
    const bool in_the_way =
        refusal.reason == Refusal::Reason::no_memory || refusal.reason == Refusal::Reason::no_space ||
        refusal.reason == Refusal::Reason::busy || refusal.reason == Refusal::Reason::exists;
    if (in_the_way && someone_is_ending()) refusal.reason = Refusal::Reason::try_again;
    return refusal;
}

bool Service::someone_is_ending() const {
    const auto now = outside_.loop.now();
    for (const auto& [id, instance] : node_.instances()) {
        if (const auto ended = ended_.find(id); ended != ended_.end()) {
            // Later than this it isn't ending but held by a child that lives on.
            if (now - ended->second < kEndingTakes) return true;
        } else if (instance.attached && !outside_.processes.alive(*instance.attached)) {
            return true;
        }
    }
    return false;
}

bool Service::is_own(std::string_view id, const Caller& caller) const {
    const auto parsed_id = parse_id(id);
    const auto* instance = parsed_id ? node_.find_instance(*parsed_id) : nullptr;
    return instance == nullptr || instance->owner == caller.user;
}

bool Service::may_withdraw(std::string_view id, const Caller& caller) const {
    const auto parsed_id = parse_id(id);
    const auto* instance = parsed_id ? node_.find_instance(*parsed_id) : nullptr;
    return instance == nullptr || (instance->owner == caller.user && !instance->attached);
}

bool Service::is_own(const model::Process& process, const Caller& caller) const {
    return outside_.processes.user_of(process) == caller.user;
}

/// A container's first process may have another user id than who starts it, but then its parent hasn't.
bool Service::may_attach(const model::Process& process, const Caller& caller) const {
    auto& processes = outside_.processes;
    if (caller.user == 0 || is_own(process, caller)) return true;
    if (caller.own_only) return false;
    const auto parent = processes.identify(processes.parent_of(process));
    return parent && processes.user_of(*parent) == caller.user;
}

/// Where this fails, what mounts the link fails too, and tells its user so.
void Service::let_in(const model::InstanceId& id, std::uint32_t user) {
    if (const auto done = outside_.links.let_in(id, user); !done)
        log::warn("instance {}: user id {} can't mount its link: {}", id.short_id(), user, done.error().text);
}

Result<void> Service::attach(std::string_view id, const model::Process& process, const Caller& caller,
                             Options options) {
    const auto parsed_id = parse_id(id);
    if (!parsed_id) return tl::unexpected(parsed_id.error());
    if (!outside_.processes.alive(process))
        return model::refuse(Refusal::Reason::not_found, "process " + std::to_string(process.pid),
                             "it has ended", "a process that is there");
    if (!may_attach(process, caller))
        return model::refuse(Refusal::Reason::not_permitted, "process " + std::to_string(process.pid),
                             "it is not one of the caller's (user id " + std::to_string(caller.user) + ")",
                             "a process of your own, or the same as root (sudo)");
    if (caller.own_only && !is_own(id, caller)) return not_yours(*parsed_id);
    const auto changed = change([&](model::Node& node) { return node.attach(*parsed_id, process); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        if (const auto user = outside_.processes.user_of(process)) let_in(*parsed_id, *user);
        watch_end(*parsed_id, process);
        log::info("{}: lives with process {}", model::describe(*node_.find_instance(*parsed_id)),
                  process.pid);
        outside_.links.refresh(*node_.find_instance(*parsed_id));
        outside_.publisher.instance_changed(*parsed_id);
    }
    return {};
}

Result<void> Service::release_instance(std::string_view id, const Caller& caller, Options options) {
    const auto parsed_id = parse_id(id);
    if (!parsed_id) return tl::unexpected(parsed_id.error());
    if (caller.own_only && !is_own(id, caller)) return not_yours(*parsed_id);
    if (caller.own_only && !may_withdraw(id, caller))
        return model::refuse(Refusal::Reason::not_permitted, "instance " + parsed_id->short_id(),
                             "its processes would go on without a limit", "end its processes");
    auto trial = node_;
    if (const auto removed = trial.remove_instance(*parsed_id); !removed)
        return tl::unexpected(removed.error());
    if (!options.dry_run) end(*parsed_id);
    return {};
}

void Service::watch_end(const model::InstanceId& id, const model::Process& process) {
    ends_[id] = outside_.processes.on_exit(process, [this, id] { process_ended(id); });
}

void Service::process_ended(const model::InstanceId& id) {
    const auto* instance = node_.find_instance(id);
    if (!instance) return;
    ended_.try_emplace(id, outside_.loop.now());
    if (!instance->attached) return end_if_idle(id);
    searches_[id] = outside_.links.find_member(id, [this, id](const std::optional<model::Process>& member) {
        if (!member) return end_if_idle(id);
        // A job that went to the background; or the others are ending as well, as when a container is killed.
        ends_[id] =
            outside_.loop.at(outside_.loop.now() + kOthersEndWithin, [this, id] { go_on_with_another(id); });
    });
}

void Service::go_on_with_another(const model::InstanceId& id) {
    searches_[id] = outside_.links.find_member(id, [this, id](const std::optional<model::Process>& member) {
        return member ? go_on_with(id, *member) : end_if_idle(id);
    });
}

void Service::go_on_with(const model::InstanceId& id, const model::Process& process) {
    const auto* instance = node_.find_instance(id);
    if (!instance) return;
    const auto changed = change([&](model::Node& node) { return node.go_on_with(id, process); }, {});
    if (changed) {
        const auto& now = *node_.find_instance(id);
        log::info("{}: its process has ended, it goes on with process {}", model::describe(now), process.pid);
        outside_.links.refresh(now);
        outside_.publisher.instance_changed(id);
    } else {
        // It goes on all the same, and a daemon that is started anew finds that process, too.
        log::error("{}: its process has ended, and the state still has that one: {}",
                   model::describe(*instance), changed.error().text);
    }
    ended_.erase(id);
    watch_end(id, process);
}

void Service::end_if_idle(const model::InstanceId& id) {
    // Else the driver still shows memory of it, and the link says when that is gone.
    if (outside_.links.idle(id)) end(id);
}

void Service::link_idle(const model::InstanceId& id) {
    if (ended_.contains(id)) process_ended(id);
}

void Service::end(const model::InstanceId& ended) {
    const auto* found = node_.find_instance(ended);
    if (!found) return;
    // `ended` may belong to the link, or to the call, that goes below.
    const auto instance = *found;
    const auto& id = instance.id;
    const auto changed = change([&](model::Node& node) { return node.remove_instance(id); }, {});
    if (!changed) {
        log::error("{} has ended but stays listed: {}", model::describe(instance), changed.error().text);
        retries_[id] = outside_.loop.at(outside_.loop.now() + kSaveAgainAfter, [this, id] { end(id); });
        return;
    }
    outside_.links.close(id);
    log::info("{}: gone", model::describe(instance));
    outside_.publisher.instance_removed(id);
    gpus_of_changed(instance);
    ended_.erase(id);
    ends_.erase(id);
    searches_.erase(id);
    retries_.erase(id);
    outside_.admission.instances_changed();
}

void Service::adopt() {
    outside_.compute.update(node_);
    const auto instances = node_.instances();
    for (const auto& [id, instance] : instances) {
        const auto folder = outside_.links.open(instance);
        if (!folder)
            log::error("{}: its link can't be opened again: {}", model::describe(instance),
                       folder.error().text);
        // With or without a link, it ends with its process.
        if (instance.attached) {
            watch_end(id, *instance.attached);
        } else {
            ends_[id] = outside_.loop.at(outside_.loop.now() + kAttachPatience,
                                         [this, id = id] { process_ended(id); });
        }
        if (folder) log::info("{}: taken up again", model::describe(instance));
    }
}

}  // namespace cgpu::app
