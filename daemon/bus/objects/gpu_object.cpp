#include "daemon/bus/objects/gpu_object.hpp"

#include <utility>

#include "daemon/bus/authority/permitted.hpp"
#include "daemon/bus/message/errors.hpp"
#include "daemon/bus/message/options.hpp"
#include "daemon/bus/message/paths.hpp"
#include "daemon/bus/usage/usage_view.hpp"

namespace cgpu::bus {
namespace {

constexpr Known kRuntime{.runtime = true};

}  // namespace

GpuObject::GpuObject(sdbus::IConnection& connection, Authority& authority, app::Service& service,
                     app::Traces& traces, CallerUsage& usage, HandedOut& handed_out, const model::Uuid& gpu,
                     GpuView view)
    : AdaptorInterfaces(connection, path_of(gpu)),
      authority_(authority),
      service_(service),
      traces_(traces),
      usage_(usage),
      handed_out_(handed_out),
      gpu_(gpu),
      view_(std::move(view)) {
    registerAdaptor();
}

GpuObject::~GpuObject() { unregisterAdaptor(); }

void GpuObject::announce() { getObject().emitInterfacesAddedSignal(); }

void GpuObject::update(GpuView view) {
    const auto changed = changed_properties(view_, view);
    view_ = std::move(view);
    if (!changed.empty()) getObject().emitPropertiesChangedSignal(INTERFACE_NAME, changed);
}

void GpuObject::xid_reported(std::uint64_t code) {
    emitXidError(code, std::string(app::meaning_of_xid(code)));
}

void GpuObject::SetPolicy(sdbus::Result<>&& result, std::string policy, OptionMap options) {
    when_permitted(authority_, Action::manage_policy, getObject(), {"SetPolicy", is_dry_run(options)},
                   std::move(result),
                   [&service = service_, gpu = gpu_, policy, options](const app::Who& who) {
                       take(service.changes().make(app::GpuChange{.gpu = gpu.to_string(), .policy = policy},
                                                   by(who, take(read_options(options, kRuntime)))));
                   });
}

void GpuObject::SetMaxInst(sdbus::Result<>&& result, std::uint32_t max_inst, OptionMap options) {
    when_permitted(
        authority_, Action::manage_policy, getObject(), {"SetMaxInst", is_dry_run(options)},
        std::move(result), [&service = service_, gpu = gpu_, max_inst, options](const app::Who& who) {
            take(service.changes().make(app::GpuChange{.gpu = gpu.to_string(), .max_inst = max_inst},
                                        by(who, take(read_options(options, kRuntime)))));
        });
}

void GpuObject::SetPrioRatio(sdbus::Result<>&& result, std::uint32_t per_cent, OptionMap options) {
    when_permitted(
        authority_, Action::manage_policy, getObject(), {"SetPrioRatio", is_dry_run(options)},
        std::move(result), [&service = service_, gpu = gpu_, per_cent, options](const app::Who& who) {
            take(service.changes().make(app::GpuChange{.gpu = gpu.to_string(), .prio_ratio = per_cent},
                                        by(who, take(read_options(options, kRuntime)))));
        });
}

void GpuObject::SetDrained(sdbus::Result<>&& result, bool drained, OptionMap options) {
    when_permitted(authority_, Action::manage_policy, getObject(), {"SetDrained", is_dry_run(options)},
                   std::move(result),
                   [&service = service_, gpu = gpu_, drained, options](const app::Who& who) {
                       take(service.changes().make(app::GpuChange{.gpu = gpu.to_string(), .drained = drained},
                                                   by(who, take(read_options(options)))));
                   });
}

void GpuObject::Revert(sdbus::Result<>&& result, OptionMap options) {
    when_permitted(authority_, Action::manage_policy, getObject(), {"Revert", is_dry_run(options)},
                   std::move(result), [&service = service_, gpu = gpu_, options](const app::Who& who) {
                       take(service.changes().make(app::GpuChange{.gpu = gpu.to_string(), .revert = true},
                                                   by(who, take(read_options(options)))));
                   });
}

void GpuObject::StartTrace(sdbus::Result<sdbus::UnixFd>&& result, OptionMap options) {
    const auto caller = guarded("StartTrace", [&] { return authority_.caller_of(getObject()); });
    when_permitted(
        authority_, Action::trace, getObject(), {"StartTrace", false}, std::move(result),
        [&traces = traces_, &handed_out = handed_out_, gpu = gpu_, options, caller](const app::Who& who) {
            const auto seconds = take(read_trace_seconds(options));
            take(handed_out.room_for("StartTrace", caller));
            sdbus::UnixFd stream(take(traces.start(gpu, seconds, who)), sdbus::adopt_fd);
            handed_out.add(caller);
            return stream;
        });
}

std::map<std::string, sdbus::Variant> GpuObject::GetUsage() {
    return guarded("Gpu.GetUsage", [&] {
        const auto [node, age] = usage_.of_node(getObject());
        std::map<std::string, sdbus::Variant> all;
        const auto its = node.gpus.find(gpu_);
        if (its == node.gpus.end()) return all;
        for (const auto& [name, number] : figures_of(its->second)) all.emplace(name, sdbus::Variant(number));
        if (age > 0) all.emplace(compat::kAgeFigure, sdbus::Variant(static_cast<std::uint64_t>(age)));
        return all;
    });
}

}  // namespace cgpu::bus
