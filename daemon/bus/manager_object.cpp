#include "daemon/bus/manager_object.hpp"

#include <limits>
#include <utility>

#include "daemon/bus/authority.hpp"
#include "daemon/bus/errors.hpp"
#include "daemon/bus/options.hpp"
#include "daemon/bus/paths.hpp"

namespace cgpu::bus {
namespace {

sdbus::ObjectPath path_of_begun(std::uint64_t job) {
    return job == 0 ? sdbus::ObjectPath("/") : path_of_job(job);
}

void emit_changed(sdbus::IObject& object, const std::vector<compat::PropertyName>& changed) {
    object.emitPropertiesChangedSignal(org::cgpu1::Manager_adaptor::INTERFACE_NAME, changed);
}

}  // namespace

ManagerObject::ManagerObject(sdbus::IConnection& connection, app::Service& service, app::Upgrader& upgrader,
                             std::string version)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(kManagerPath)),
      service_(service),
      upgrader_(upgrader),
      version_(std::move(version)) {
    registerAdaptor();
}

ManagerObject::~ManagerObject() { unregisterAdaptor(); }

std::tuple<sdbus::ObjectPath, std::vector<BusQuota>, std::string, std::vector<std::string>>
ManagerObject::CreateInstance(const std::string& id, const std::string& name,
                              const std::map<std::string, std::string>& variables, const OptionMap& options) {
    return guarded("CreateInstance", [&] {
        const compat::Credentials caller = caller_of(getObject());
        take(may_change(caller));
        const app::Created created =
            take(service_.create_instance(id, name, variables, caller.pid, take(read_options(options))));
        const bool managed = !created.instance.quotas.empty();
        return std::tuple(managed ? path_of(created.instance.id) : sdbus::ObjectPath("/"),
                          quotas_of(service_.node(), created.instance), created.link_folder,
                          created.warnings);
    });
}

void ManagerObject::Attach(const std::string& id, const std::uint32_t& pid, const OptionMap& options) {
    guarded("Attach", [&] {
        take(may_change(caller_of(getObject())));
        const app::Options checked = take(read_options(options));
        if (pid == 0 || pid > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max()))
            throw to_bus_error(model::make_refusal(model::Refusal::Reason::invalid,
                                                   "pid " + std::to_string(pid), "it is not a process id",
                                                   "a number above 0"));
        take(service_.attach(id, static_cast<std::int32_t>(pid), checked));
    });
}

void ManagerObject::ReleaseInstance(const std::string& id, const OptionMap& options) {
    guarded("ReleaseInstance", [&] {
        take(may_change(caller_of(getObject())));
        take(service_.release_instance(id, take(read_options(options))));
    });
}

sdbus::ObjectPath ManagerObject::FindGpu(const std::string& gpu) {
    return guarded("FindGpu", [&] { return path_of(take(service_.find_gpu(gpu))); });
}

sdbus::ObjectPath ManagerObject::FindInstance(const std::string& instance) {
    return guarded("FindInstance", [&] { return path_of(take(service_.find_instance(instance))); });
}

sdbus::ObjectPath ManagerObject::begin(upgrade::Kind kind, const std::string& version,
                                       const OptionMap& options) {
    take(may_change(caller_of(getObject())));
    return path_of_begun(take(upgrader_.begin(kind, version, take(read_upgrade_options(options, kind)))));
}

sdbus::ObjectPath ManagerObject::SetMode(const std::string& mode, const OptionMap& options) {
    return guarded("SetMode", [&] {
        take(may_change(caller_of(getObject())));
        return path_of_begun(
            take(upgrader_.begin_mode(mode, take(read_upgrade_options(options, upgrade::Kind::mode)))));
    });
}

sdbus::ObjectPath ManagerObject::UpgradeHot(const std::string& version, const OptionMap& options) {
    return guarded("UpgradeHot", [&] { return begin(upgrade::Kind::hot, version, options); });
}

sdbus::ObjectPath ManagerObject::UpgradeCold(const std::string& version, const OptionMap& options) {
    return guarded("UpgradeCold", [&] { return begin(upgrade::Kind::cold, version, options); });
}

void ManagerObject::module_changed() { emit_changed(getObject(), {compat::PropertyName("ModuleVersion")}); }

void ManagerObject::mode_changed() {
    emit_changed(getObject(), {compat::PropertyName("Mode"), compat::PropertyName("ModeSource")});
}

void ManagerObject::job_ended(const upgrade::Ended& ended) {
    emitJobRemoved(ended.id, path_of_job(ended.id), std::string(to_string(ended.result)));
}

}  // namespace cgpu::bus
