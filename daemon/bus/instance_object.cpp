#include "daemon/bus/instance_object.hpp"

#include <utility>

#include "daemon/bus/authority.hpp"
#include "daemon/bus/errors.hpp"
#include "daemon/bus/options.hpp"
#include "daemon/bus/paths.hpp"

namespace cgpu::bus {
namespace {

std::map<std::string, sdbus::Variant> figures(const app::InstanceUsage& usage) {
    const std::vector<std::uint32_t> processes(usage.processes.begin(), usage.processes.end());
    return {
        {"memory-used", sdbus::Variant(usage.memory_used)},
        {"memory-leased", sdbus::Variant(usage.memory_leased)},
        {"memory-limit", sdbus::Variant(usage.memory_limit)},
        {"memory-unexplained", sdbus::Variant(usage.memory_unexplained)},
        {"gpu-time", sdbus::Variant(usage.gpu_time)},
        {"waited", sdbus::Variant(usage.waited)},
        {"target-share", sdbus::Variant(usage.target_share)},
        {"achieved-share", sdbus::Variant(usage.achieved_share)},
        {"launches", sdbus::Variant(usage.launches)},
        {"preemptions", sdbus::Variant(usage.preemptions)},
        {"longest-kernel", sdbus::Variant(usage.longest_kernel)},
        {"processes", sdbus::Variant(processes)},
    };
}

}  // namespace

InstanceObject::InstanceObject(sdbus::IConnection& connection, app::Service& service,
                               const app::Upgrader& upgrader, const model::InstanceId& id, InstanceView view)
    : AdaptorInterfaces(connection, path_of(id)),
      service_(service),
      upgrader_(upgrader),
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

void InstanceObject::SetWeight(const std::string& gpu, const std::uint32_t& weight,
                               const OptionMap& options) {
    guarded("SetWeight", [&] {
        take(may_change(caller_of(getObject())));
        take(service_.set_weight(id_, gpu, weight, take(read_options(options))));
    });
}

void InstanceObject::SetHighPriority(const std::string& gpu, const bool& high, const OptionMap& options) {
    guarded("SetHighPriority", [&] {
        take(may_change(caller_of(getObject())));
        take(service_.set_high_priority(id_, gpu, high, take(read_options(options))));
    });
}

void InstanceObject::SetMemory(const std::string& gpu, const std::uint64_t& bytes, const OptionMap& options) {
    guarded("SetMemory", [&] {
        take(may_change(caller_of(getObject())));
        take(service_.set_memory(id_, gpu, bytes, take(read_options(options, Force::known))));
    });
}

std::map<std::string, std::map<std::string, sdbus::Variant>> InstanceObject::GetUsage() {
    return guarded("Instance.GetUsage", [&] {
        std::map<std::string, std::map<std::string, sdbus::Variant>> all;
        for (const auto& [gpu, usage] : service_.usage(id_)) all.emplace(gpu.to_string(), figures(usage));
        return all;
    });
}

std::map<std::uint32_t, std::string> InstanceObject::ModuleVersions() {
    std::map<std::uint32_t, std::string> all;
    for (const auto& [pid, versions] : upgrader_.versions(id_))
        all.emplace(static_cast<std::uint32_t>(pid), versions_text(versions));
    return all;
}

}  // namespace cgpu::bus
