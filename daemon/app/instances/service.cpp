#include "daemon/app/instances/service.hpp"

#include <algorithm>
#include <utility>

#include "core/admission/admit.hpp"
#include "core/model/size.hpp"
#include "core/request/request.hpp"
#include "daemon/app/instances/base/service_events.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

Result<model::InstanceId> parse_id(std::string_view id) {
    auto parsed = model::InstanceId::parse(id);
    if (parsed) return *parsed;
    return model::refuse(Refusal::Reason::invalid, "instance id", parsed.error(), "use the container's id");
}

/// The caller asked while the instance was its own, or didn't exist, and is answered later.
tl::unexpected<Refusal> not_yours(const model::InstanceId& id) {
    return model::refuse(Refusal::Reason::not_permitted, "instance " + id.short_id(),
                         "it was made by another user", "do the same as root (sudo)");
}

std::string no_effect(const std::string& declared, const model::Owner& owner) {
    return "CGPU_OWNER=" + declared + " has no effect: it runs as " + describe(owner) +
           ", which is its owner. Try: leave it out.";
}

/// The result for a container that isn't managed.
Created unmanaged(const model::InstanceId& id, std::string_view name) {
    return {{id, std::string(name), 0, 0, model::Mode::none, {}, std::nullopt}, {}, {}};
}

}  // namespace

Result<void> check_name(const model::InstanceId& id, std::string_view name) {
    if (name.size() <= kLongestName) return {};
    return model::refuse(Refusal::Reason::invalid, "instance " + id.short_id(),
                         "its name has more than " + std::to_string(kLongestName) + " bytes",
                         "give it a shorter name");
}

Service::Service(model::Node node, Settings settings, const Outside& outside)
    : settings_(std::move(settings)),
      outside_(outside),
      stops_({outside.loop, outside.processes, outside.usage,
              [this](const model::InstanceId& id) { return state_.node().find_instance(id); }}),
      ends_({outside.loop, stops_, outside.events, outside.usage,
             [this]() -> const model::Node& { return state_.node(); },
             [this](const model::Transition& transition) { return state_.change(transition, {}); },
             [this](const model::InstanceId& id) { outside_.publisher.instance_changed(id); },
             [this](const model::InstanceId& id) { lifetimes_.end(id); }}),
      state_(std::move(node), outside.store, followers(), outside.events),
      gpus_(state_, outside.publisher, outside.events),
      changes_(state_, outside.links, outside.publisher, outside.usage,
               [this](const model::Gpu& gpu) { return settings_.settings_for(gpu); }),
      lifetimes_(state_, {outside.loop, outside.publisher, outside.links, outside.processes,
                          outside.admission, outside.events, outside.wall_clock}),
      admitted_(outside.loop, outside.events),
      refused_(outside.loop, outside.events),
      refused_calls_(outside.loop, outside.events),
      warned_(outside.loop, [](const Event& told) { log::line(told.level, told.message, subject_of(told)); }),
      facts_(outside.loop, outside.processes) {}

/// Before anything else is taken over: the instances of an earlier boot may not fit what holds again now.
void Service::end_of_boot() {
    if (!node().until_reboot().empty() && node().boot_id() != outside_.boot_id) {
        const auto before = node().instances();
        const auto memory_before = default_memory();
        state_.boot_ended();
        for (const auto& [id, instance] : before)
            outside_.events.happened(event_of(EventType::instance_ended, log::Level::info, instance,
                                              model::describe(instance) + ": gone with the last boot"));
        if (default_memory() != memory_before)
            outside_.events.happened(default_memory_set(memory_before, default_memory(),
                                                        node().default_memory().has_value(), false, {}));
    }
    state_.set_boot_id(outside_.boot_id);
}

void Service::adopt() {
    end_of_boot();
    ends_.set_settings(settings_.ends);
    state_.tell_followers();
    lifetimes_.adopt();
    drop_old_reservations();
    // Signals that the cgpud before may not have sent any more.
    for (const auto& [id, instance] : node().instances()) {
        if (!model::is_ending(instance)) continue;
        const auto sent = model::is_closed(instance) ? stops_.kill_all(id) : stops_.ask(id);
        if (!sent) log::info(log::about(instance), "{}", sent.error().text);
    }
}

void Service::set_settings(Settings settings) {
    const auto before = default_memory();
    settings_ = std::move(settings);
    ends_.set_settings(settings_.ends);
    changes_.follow_configuration();
    if (default_memory() != before) outside_.publisher.default_memory_changed();
    if (queue_) queue_->look_soon();
}

Result<void> Service::set_default_memory(std::optional<model::Bytes> bytes, Options options) {
    const auto before = default_memory();
    const auto changed = state_.change(
        [&](model::Node& node) -> tl::expected<model::Change, Refusal> {
            return node.set_default_memory(bytes, lasts(options));
        },
        options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        outside_.events.happened(
            default_memory_set(before, default_memory(), bytes.has_value(), options.runtime, options.by));
        outside_.publisher.default_memory_changed();
    }
    return {};
}

Result<void> Service::forget(std::string_view name, std::optional<std::uint32_t> owner, Options options) {
    const auto changed = state_.change([&](model::Node& node) { return node.forget(name, owner); }, options);
    if (!changed) return tl::unexpected(changed.error());
    return {};
}

bool Service::are_as_configured() const {
    return std::ranges::all_of(node().gpus(), [this](const model::Gpu& gpu) {
        return settings_.settings_for(gpu).mode == gpu.settings.mode;
    });
}

std::vector<model::InstanceId> Service::in_the_way(std::optional<model::Mode> switched) const {
    std::vector<model::InstanceId> found;
    for (const auto& [id, instance] : node().instances()) {
        const auto blocks = [&, its = instance.mode](const model::Quota& quota) {
            const auto* gpu = node().find_gpu(quota.gpu);
            const auto wanted = settings_.settings_for(*gpu).mode;
            return wanted < switched.value_or(gpu->settings.mode) && wanted < its;
        };
        if (std::ranges::any_of(instance.quotas, blocks)) found.push_back(id);
    }
    return found;
}

Result<void> Service::take_configured() {
    std::vector<model::Transition> all;
    for (const auto& gpu : node().gpus())
        all.emplace_back([uuid = gpu.uuid, mode = settings_.settings_for(gpu).mode](model::Node& node) {
            return node.set_mode(uuid, mode);
        });
    const auto changed = state_.change(
        [&](model::Node& node) {
            return model::do_all(node, all).map_error([](const auto& refused) { return refused.refusal; });
        },
        {});
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) outside_.publisher.gpus_changed();
    return {};
}

Result<Created> Service::create_instance(const Asked& asked) {
    const auto owner = owner_of(asked);
    auto created = try_to_create(asked);
    if (!created && !asked.options.dry_run)
        admission_refused(asked.id, asked.name, asked.caller, owner, created.error());
    return created;
}

void Service::admission_refused(std::string_view id, std::string_view name, const Caller& caller,
                                const model::Owner& owner, const model::Refusal& refusal) {
    if (outside_.second_look != nullptr && outside_.second_look->may_be_outdated(refusal)) return;
    refused_.happened(id, name, {caller.user, caller.process.pid}, refusal);
    if (outside_.start_refused && refusal.reason != Refusal::Reason::try_again)
        outside_.start_refused(name.empty() ? id : name, owner);
}

Result<Created> Service::try_to_create(const Asked& asked) {
    const auto& [id, name, variables, caller, options, origin, hold] = asked;
    const auto parsed_id = parse_id(id);
    if (!parsed_id) return tl::unexpected(parsed_id.error());
    if (const auto fits = check_name(*parsed_id, name); !fits) return tl::unexpected(fits.error());
    const auto unknown = request::find_unknown_name(variables);
    if (unknown && settings_.unknown_variables == request::UnknownNames::refuse)
        return tl::unexpected(request::refuse_unknown_name(*unknown));
    if (unknown && !options.dry_run)
        warned_.happened(caller.user, name,
                         {.level = log::Level::warn,
                          .message = model::describe(unmanaged(*parsed_id, name).instance) + ": " +
                                     request::refuse_unknown_name(*unknown).text});
    auto request = request::parse_request(variables);
    if (!request) return tl::unexpected(request.error());
    if (!*request && unknown) return unmanaged(*parsed_id, name);
    if (!*request)
        return model::refuse(Refusal::Reason::invalid, "instance " + parsed_id->short_id(),
                             "its variables ask for no part of a GPU",
                             "ALIYUN_COM_GPU_MEM_CONTAINER=GiB or CGPU_MEM=SIZE, or start it without cgpu");
    if (auto known = request::apply_profile(**request, settings_.profiles); !known)
        return tl::unexpected(known.error());
    if (const auto open = outside_.admission.open(); !open) return tl::unexpected(open.error());
    if (!(*request)->reservation.empty()) return take_over(*parsed_id, **request, asked);
    (*request)->container_name = name;
    (*request)->kept = state_.node().kept_of(caller.user, *parsed_id, (*request)->container_name);
    const auto owner = owner_of_new(caller, origin, (*request)->owner);
    const auto allowance = allowance_of(owner);
    if (!allowance) return tl::unexpected(allowance.error());
    if (const auto allowed = check_hold(asked, *allowance ? &**allowance : nullptr); !allowed)
        return tl::unexpected(allowed.error());
    const auto time =
        time_of_new(*parsed_id, (*request)->container_name, **request, *allowance ? &**allowance : nullptr);
    if (!time) return tl::unexpected(time.error());
    const auto idle =
        idle_of_new(*parsed_id, (*request)->container_name, **request, *allowance ? &**allowance : nullptr);
    if (!idle) return tl::unexpected(idle.error());
    auto defaults = defaults_now();
    defaults.allowance = *allowance ? &**allowance : nullptr;
    auto grant = grant_for(*parsed_id, waiting_of(asked, **request, owner, *time), defaults);
    if (!grant) return tl::unexpected(worth_another_try(std::move(grant.error())));
    if (!grant->managed()) return unmanaged(*parsed_id, name);
    if (auto known = request::check_granted(**request, settings_.profiles, grant->quotas); !known)
        return tl::unexpected(known.error());
    if (const auto allowed = admission::check_mode(settings_.unmanaged, state_.node(), defaults.mode,
                                                   **request, grant->quotas);
        !allowed)
        return tl::unexpected(allowed.error());
    if (const auto asks = check_caller(caller); !asks) return tl::unexpected(asks.error());

    model::Instance wanted{*parsed_id,    name,         0,           outside_.wall_clock(), grant->mode,
                           grant->quotas, std::nullopt, caller.user, origin.image};
    wanted.owner = owner;
    wanted.time = *time;
    wanted.idle = *idle;
    if (hold) hold_for_another(wanted, *hold);
    if (wanted.owner.declared != (*request)->owner)
        grant->warnings.push_back(no_effect((*request)->owner, wanted.owner));
    auto created = put_in(std::move(wanted), std::move(grant->warnings), caller, options);
    if (created && queue_ && !options.dry_run) queue_->started(*parsed_id);
    return created;
}

Result<void> Service::check_caller(const Caller& caller) const {
    const std::string what = "process " + std::to_string(caller.process.pid);
    if (!outside_.processes.alive(caller.process))
        return model::refuse(Refusal::Reason::not_found, what, "it asked for an instance and has ended",
                             "try the same again");
    // polkit was asked about the caller's user, possibly minutes ago.
    if (caller.user != 0 && !is_own(caller.process, caller))
        return model::refuse(Refusal::Reason::not_permitted, what,
                             "it asked for an instance as user id " + std::to_string(caller.user) +
                                 " and runs as another user now",
                             "ask from a process that stays the same user's");
    return {};
}

Result<Created> Service::put_in(model::Instance wanted, std::vector<std::string> warnings,
                                const Caller& caller, Options options) {
    const auto allowance = allowance_of(wanted.owner);
    if (!allowance) return tl::unexpected(allowance.error());
    if (*allowance)
        if (const auto allowed = (*allowance)->check_instance(wanted.quotas); !allowed)
            return model::refuse(model::describe(wanted), allowed.error());
    const auto add = [wanted](model::Node& node) { return node.add_instance(wanted); };
    return bring_in(std::move(wanted), add, std::move(warnings), caller, options);
}

Result<Created> Service::bring_in(model::Instance wanted, const model::Transition& change,
                                  std::vector<std::string> warnings, const Caller& caller, Options options) {
    const model::InstanceId id = wanted.id;
    if (const auto had = lifetimes_.ended_ids().user_of(id); had && *had != caller.user && caller.user != 0)
        return model::refuse(Refusal::Reason::exists, "instance " + id.short_id(),
                             "user id " + std::to_string(*had) + " had it, and may start it again",
                             "use another id");
    if (options.dry_run) {
        const auto checked = state_.change(change, options);
        if (!checked) return tl::unexpected(checked.error());
        return Created{std::move(wanted), {}, std::move(warnings)};
    }
    // The link comes first: an instance that is on disk must be usable.
    auto trial = state_.node();
    if (auto added = change(trial); !added)
        return tl::unexpected(worth_another_try(std::move(added.error())));
    auto folder = outside_.links.open(*trial.find_instance(id));
    if (!folder) return tl::unexpected(folder.error());
    if (const auto changed = state_.change(change, options); !changed) {
        outside_.links.close(id);
        return tl::unexpected(changed.error());
    }
    if (!wanted.reservation) {
        let_in(id, caller.user);
        lifetimes_.watch_end(id, caller.process);
    }
    const auto& instance = *state_.node().find_instance(id);
    outside_.events.instance_known(instance);
    const auto level = admitted_.is_told(caller.user) ? log::Level::warn : log::Level::debug;
    for (const auto& quota : instance.quotas)
        admitted_.happened(caller.user, admitted(instance, quota, {caller.user, caller.process.pid}));
    for (const auto& warning : warnings)
        log::line(level, model::describe(instance) + ": " + warning, log::about(instance));
    outside_.publisher.instance_added(instance.id);
    outside_.publisher.gpus_changed();
    outside_.admission.instances_changed();
    return Created{instance, std::move(*folder), std::move(warnings)};
}

Refusal Service::worth_another_try(Refusal refusal) const {
    const bool in_the_way =
        refusal.reason == Refusal::Reason::no_memory || refusal.reason == Refusal::Reason::no_space ||
        refusal.reason == Refusal::Reason::busy || refusal.reason == Refusal::Reason::exists;
    if (in_the_way && lifetimes_.someone_is_ending()) refusal.reason = Refusal::Reason::try_again;
    return refusal;
}

/// If this fails, the client can't mount the link either, and reports that to its user.
void Service::let_in(const model::InstanceId& id, std::uint32_t user) {
    if (const auto done = outside_.links.let_in(id, user); !done)
        log::warn(outside_.events.about(id), "instance {}: user id {} can't mount its link: {}",
                  id.short_id(), user, done.error().text);
}

Result<void> Service::attach(std::string_view id, const model::Process& process, const Caller& caller,
                             Options options) {
    const auto parsed_id = parse_id(id);
    if (!parsed_id) return tl::unexpected(parsed_id.error());
    if (!outside_.processes.alive(process))
        return model::refuse(Refusal::Reason::not_found, "process " + std::to_string(process.pid),
                             "it has ended", "name a running process");
    if (!may_attach(outside_.processes, process, caller))
        return model::refuse(Refusal::Reason::not_permitted, "process " + std::to_string(process.pid),
                             "it is not one of the caller's (user id " + std::to_string(caller.user) + ")",
                             "name a process of your own, or do the same as root (sudo)");
    if (caller.own_only && !is_own(id, caller)) return not_yours(*parsed_id);
    const auto changed =
        state_.change([&](model::Node& node) { return node.attach(*parsed_id, process); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        if (const auto user = outside_.processes.user_of(process)) let_in(*parsed_id, *user);
        lifetimes_.watch_end(*parsed_id, process);
        const auto& instance = *state_.node().find_instance(*parsed_id);
        log::line(admitted_.is_told(caller.user) ? log::Level::info : log::Level::debug,
                  model::describe(instance) + ": lives with process " + std::to_string(process.pid),
                  log::about(instance));
        outside_.links.refresh(instance);
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
    if (queue_ && queue_->find(*parsed_id) != nullptr) {
        if (!options.dry_run)
            queue_->withdraw(*parsed_id, "user id " + std::to_string(caller.user) + " has taken it");
        return {};
    }
    auto trial = state_.node();
    if (const auto removed = trial.remove_instance(*parsed_id); !removed)
        return tl::unexpected(removed.error());
    return options.dry_run ? Result<void>() : lifetimes_.release(*parsed_id);
}

void Service::gpus_seen(model::SeenGpus seen) {
    // A server in an instance concerns nobody else: it is limited as any other program, and so are its
    // clients.
    for (const model::MpsServer& server : seen.mps_servers)
        for (model::SeenGpu& gpu : seen.gpus)
            if (gpu.uuid == server.gpu && gpu.obstacle.empty() && identify(server.pid) &&
                !outside_.links.has_member(server.pid))
                gpu.obstacle = shared_by(server);
    gpus_.seen(seen, settings_.settings_for);
    changes_.follow_configuration();
    looks_.clear();
    const NodeUsage now = usage();
    for (const auto& [gpu, used] : seen.memory_used)
        if (const auto its = now.gpus.find(gpu); its != now.gpus.end())
            looks_[gpu] = {used.count(), its->second.memory_used};
}

}  // namespace cgpu::app
