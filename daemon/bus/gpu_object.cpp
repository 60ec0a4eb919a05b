#include "daemon/bus/gpu_object.hpp"

#include <utility>

#include "daemon/bus/authority.hpp"
#include "daemon/bus/errors.hpp"
#include "daemon/bus/options.hpp"
#include "daemon/bus/paths.hpp"

namespace cgpu::bus {

GpuObject::GpuObject(sdbus::IConnection& connection, app::Service& service, const model::Uuid& gpu,
                     GpuView view)
    : AdaptorInterfaces(connection, path_of(gpu)), service_(service), gpu_(gpu), view_(std::move(view)) {
    registerAdaptor();
}

GpuObject::~GpuObject() { unregisterAdaptor(); }

void GpuObject::announce() { getObject().emitInterfacesAddedSignal(); }

void GpuObject::update(GpuView view) {
    const auto changed = changed_properties(view_, view);
    view_ = std::move(view);
    if (!changed.empty()) getObject().emitPropertiesChangedSignal(INTERFACE_NAME, changed);
}

void GpuObject::SetPolicy(const std::string& policy, const OptionMap& options) {
    guarded("SetPolicy", [&] {
        take(may_change(caller_of(getObject())));
        take(service_.set_policy(gpu_, policy, take(read_options(options))));
    });
}

void GpuObject::SetMaxInst(const std::uint32_t& max_inst, const OptionMap& options) {
    guarded("SetMaxInst", [&] {
        take(may_change(caller_of(getObject())));
        take(service_.set_max_inst(gpu_, max_inst, take(read_options(options))));
    });
}

void GpuObject::SetPrioRatio(const std::uint32_t& per_cent, const OptionMap& options) {
    guarded("SetPrioRatio", [&] {
        take(may_change(caller_of(getObject())));
        take(service_.set_prio_ratio(gpu_, per_cent, take(read_options(options))));
    });
}

std::map<std::string, sdbus::Variant> GpuObject::GetUsage() {
    return guarded("Gpu.GetUsage", [&] {
        const app::GpuUsage usage = service_.usage(gpu_);
        return std::map<std::string, sdbus::Variant>{
            {"memory-used", sdbus::Variant(usage.memory_used)},
            {"memory-leased", sdbus::Variant(usage.memory_leased)},
        };
    });
}

}  // namespace cgpu::bus
