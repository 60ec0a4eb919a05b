#include "daemon/bus/objects/instance_object.hpp"

#include <utility>

#include "core/ends/course.hpp"
#include "daemon/bus/authority/permitted.hpp"
#include "daemon/bus/message/errors.hpp"
#include "daemon/bus/message/options.hpp"
#include "daemon/bus/message/paths.hpp"
#include "daemon/bus/usage/usage_view.hpp"

namespace cgpu::bus {
InstanceObject::InstanceObject(sdbus::IConnection& connection, Authority& authority, app::Service& service,
                               const app::Upgrader& upgrader, CallerUsage& usage, const Told& told,
                               const model::InstanceId& id, InstanceView view)
    : AdaptorInterfaces(connection, path_of(id)),
      authority_(authority),
      service_(service),
      upgrader_(upgrader),
      usage_(usage),
      told_(told),
      id_(id),
      view_(std::move(view)) {
    registerAdaptor();
}

InstanceObject::~InstanceObject() { unregisterAdaptor(); }

void InstanceObject::announce() { getObject().emitInterfacesAddedSignal(); }

void InstanceObject::announce_removal() { getObject().emitInterfacesRemovedSignal(); }

void InstanceObject::update(InstanceView view) {
    const auto changed = changed_properties(view_, view);
    view_ = std::move(view);
    if (!changed.empty()) getObject().emitPropertiesChangedSignal(INTERFACE_NAME, changed);
}

void InstanceObject::change(sdbus::Result<>&& result, const char* method, app::QuotaChange change,
                            const OptionMap& options, Known known) {
    const auto caller = guarded(method, [&] { return authority_.caller_of(getObject()); });
    change.instance = id_;
    const auto actions = actions_for({change}, service_.node(), caller.uid);
    when_permitted(authority_, actions, getObject(), {method, is_dry_run(options)}, std::move(result),
                   [&service = service_, change, options, known, actions](const app::Who& who) {
                       take(service.changes().make(
                           change, as_authorized(take(read_options(options, known)), actions, who)));
                   });
}

void InstanceObject::SetWeight(sdbus::Result<>&& result, std::string gpu, std::uint32_t weight,
                               OptionMap options) {
    change(std::move(result), "SetWeight", {.instance = id_, .gpu = gpu, .weight = weight}, options,
           {.persist = true});
}

void InstanceObject::SetHighPriority(sdbus::Result<>&& result, std::string gpu, bool high,
                                     OptionMap options) {
    change(std::move(result), "SetHighPriority", {.instance = id_, .gpu = gpu, .high_priority = high},
           options, {.persist = true});
}

void InstanceObject::SetMemory(sdbus::Result<>&& result, std::string gpu, std::uint64_t bytes,
                               OptionMap options) {
    change(std::move(result), "SetMemory", {.instance = id_, .gpu = gpu, .memory_limit = model::Bytes(bytes)},
           options, {.force = true, .persist = true});
}

void InstanceObject::SetPaused(sdbus::Result<>&& result, std::string gpu, bool paused, OptionMap options) {
    change(std::move(result), "SetPaused", {.instance = id_, .gpu = gpu, .paused = paused}, options, {});
}

void InstanceObject::Revert(sdbus::Result<>&& result, std::string gpu, OptionMap options) {
    change(std::move(result), "Revert", {.instance = id_, .gpu = gpu, .revert = true}, options,
           {.force = true});
}

void InstanceObject::Rename(sdbus::Result<>&& result, std::string name, OptionMap options) {
    const auto caller = guarded("Rename", [&] { return authority_.caller_of(getObject()); });
    const auto* instance = service_.node().find_instance(id_);
    const bool own = instance != nullptr && instance->owner.user == caller.uid;
    const std::vector actions{own ? Action::manage_own : Action::manage_instance};
    when_permitted(
        authority_, actions, getObject(), {"Rename", is_dry_run(options)}, std::move(result),
        [&service = service_, id = id_, name = std::move(name), options, actions](const app::Who& who) {
            take(service.rename(id, name, as_authorized(take(read_options(options)), actions, who)));
        });
}

void InstanceObject::Stop(sdbus::Result<std::vector<std::uint32_t>>&& result, std::uint32_t grace,
                          OptionMap options) {
    const auto caller = guarded("Stop", [&] { return authority_.caller_of(getObject()); });
    // Nobody is asked for a password for what can't be done.
    const auto* instance = service_.node().find_instance(id_);
    if (instance != nullptr) guarded("Stop", [&] { take(service_.stops().possible(*instance)); });
    const bool own = instance != nullptr && instance->owner.user == caller.uid;
    when_permitted(
        authority_, own ? Action::manage_own : Action::manage_instance, getObject(),
        {"Stop", is_dry_run(options)}, std::move(result),
        [&service = service_, id = id_, grace, options, own](const app::Who& who) {
            const auto read = take(read_options(options));
            take(service.check(read));
            if (grace > app::Stops::kLongestGrace)
                take<void>(model::refuse(model::Refusal::Reason::invalid, "grace " + std::to_string(grace),
                                         "it is longer than a day", "give at most 86400 seconds"));
            // The right to one's own ends with it, also if another instance has got the id meanwhile.
            const auto* now = service.node().find_instance(id);
            if (own && now != nullptr && now->owner.user != who.user)
                take<void>(model::refuse(model::Refusal::Reason::not_permitted, model::describe(*now),
                                         "it is another user's", "do the same as root (sudo)"));
            return take(service.stops().stop(
                id, {static_cast<app::Nanos>(grace) * app::kSecond, own && who.user != 0, read.dry_run}));
        });
}

std::map<std::string, std::map<std::string, sdbus::Variant>> InstanceObject::GetUsage() {
    return guarded("Instance.GetUsage", [&] {
        std::map<std::string, std::map<std::string, sdbus::Variant>> all;
        const auto [node, age] = usage_.of_node(getObject());
        const auto its = node.instances.find(id_);
        if (its == node.instances.end()) return all;
        for (const auto& [gpu, usage] : its->second) {
            auto& figures = all.emplace(gpu.to_string(), figures_of(usage)).first->second;
            if (age > 0) figures.emplace(compat::kAgeFigure, sdbus::Variant(static_cast<std::uint64_t>(age)));
        }
        return all;
    });
}

std::uint32_t InstanceObject::QueuePosition() {
    const auto* queue = service_.queue();
    const auto place = queue == nullptr ? std::nullopt : queue->place_of(id_);
    return place ? static_cast<std::uint32_t>(place->position) : 0;
}

std::string InstanceObject::WaitsFor() {
    const auto* queue = service_.queue();
    const auto place = queue == nullptr ? std::nullopt : queue->place_of(id_);
    return place ? place->waits_for : std::string();
}

std::map<std::string, std::map<std::string, sdbus::Variant>> InstanceObject::Admitted() {
    std::map<std::string, std::map<std::string, sdbus::Variant>> all;
    const auto* instance = service_.node().find_instance(id_);
    if (instance == nullptr) return all;
    for (const auto& quota : instance->quotas) {
        if (!quota.admitted) continue;
        auto& entry = all[quota.gpu.to_string()];
        entry.emplace("memory-limit", sdbus::Variant(quota.admitted->memory_limit.count()));
        if (quota.admitted->percent)
            entry.emplace("percentage", sdbus::Variant(*quota.admitted->percent));
        else
            entry.emplace("weight", sdbus::Variant(quota.admitted->weight));
        entry.emplace("high-priority", sdbus::Variant(quota.admitted->high_priority));
    }
    return all;
}

std::uint64_t InstanceObject::TimeLeft() {
    const auto* instance = service_.node().find_instance(id_);
    return instance != nullptr && instance->time ? ends::left(*instance->time, service_.now()) : 0;
}

std::map<std::string, std::uint32_t> InstanceObject::WithoutDriver() {
    const auto found = told_.without_driver.find(id_);
    return found == told_.without_driver.end() ? std::map<std::string, std::uint32_t>() : found->second;
}

std::map<std::uint32_t, std::string> InstanceObject::ModuleVersions() {
    std::map<std::uint32_t, std::string> all;
    for (const auto& [pid, versions] : upgrader_.versions(id_))
        all.emplace(static_cast<std::uint32_t>(pid), versions_text(versions));
    return all;
}

}  // namespace cgpu::bus
