#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/app/events/events.hpp"
#include "daemon/app/instances/unmanaged_containers.hpp"
#include "daemon/app/ports/configuration.hpp"
#include "daemon/app/ports/examination.hpp"
#include "daemon/app/upgrade/upgrader.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/calls/handed_out.hpp"
#include "daemon/bus/message/examinations.hpp"
#include "daemon/bus/message/options.hpp"
#include "daemon/bus/objects/description.hpp"
#include "daemon/bus/objects/instance_view.hpp"
#include "daemon/bus/objects/manager_view.hpp"
#include "daemon/bus/usage/caller_usage.hpp"
#include "daemon/bus/usage/usage_view.hpp"
#include "dbus/compat.hpp"
#include "dbus/generated/manager_adaptor.hpp"

namespace cgpu::bus {

/// org.cgpu1.Manager, on the same object as the ObjectManager of the whole tree.
class ManagerObject final
    : public sdbus::AdaptorInterfaces<org::cgpu1::Manager_adaptor, sdbus::ObjectManager_adaptor> {
  public:
    ManagerObject(sdbus::IConnection& connection, Authority& authority, app::Service& service,
                  app::Upgrader& upgrader, app::UnmanagedContainers& unmanaged, CallerUsage& usage,
                  HandedOut& handed_out, Told& told, app::Examined examined);
    ~ManagerObject();
    ManagerObject(const ManagerObject&) = delete;
    ManagerObject& operator=(const ManagerObject&) = delete;

    /// Another version of the module is in force.
    void module_changed();
    /// The mode of the node, or its source, has changed.
    void mode_changed();
    /// The default memory in force, or its source, has changed.
    void default_memory_changed();
    void unmanaged_changed();
    void happened(const app::Event& event, const app::Stamp& stamp);
    void job_ended(const upgrade::Ended& ended);
    void set_configuration_problems(app::ConfigurationProblems problems);
    void set_newer_driver_functions(std::vector<std::string> names);

  private:
    using Facts = std::map<std::string, sdbus::Variant>;

    /// instance, quotas, link, warnings
    using Created =
        sdbus::Result<sdbus::ObjectPath, std::vector<BusQuota>, std::string, std::vector<std::string>>;
    using Begun = sdbus::Result<sdbus::ObjectPath>;  // the job
    sdbus::UnixFd hand_out(const char* method, app::HistoryStore& store);
    static void find_gpu(Authority& authority, app::Service& service,
                         const std::shared_ptr<sdbus::Result<sdbus::ObjectPath>>& result,
                         const std::string& gpu);

    void CreateInstance(Created&& result, std::string id, std::string name,
                        std::map<std::string, std::string> variables, OptionMap options) override;
    void AdmitUnmanaged(sdbus::Result<bool>&& result, std::string id, std::string name,
                        std::vector<std::string> gpus, OptionMap options) override;
    void Attach(sdbus::Result<>&& result, std::string id, std::uint32_t pid, OptionMap options) override;
    void ReleaseInstance(sdbus::Result<>&& result, std::string id, OptionMap options) override;
    void Extend(sdbus::Result<>&& result, std::string instance, std::uint64_t seconds,
                OptionMap options) override;
    void Forget(sdbus::Result<>&& result, std::string name, OptionMap options) override;
    void SetDefaultMemory(sdbus::Result<>&& result, std::uint64_t bytes, OptionMap options) override;
    void RevertDefaultMemory(sdbus::Result<>&& result, OptionMap options) override;
    void Apply(sdbus::Result<std::uint64_t>&& result, std::vector<OptionMap> changes,
               OptionMap options) override;
    std::string Describe() override;
    std::string DescribeGpus() override;
    void DescribeLimits(sdbus::Result<std::string>&& result, std::string user) override;
    compat::UsageOfNode GetUsage() override;
    sdbus::UnixFd OpenHistory() override;
    sdbus::UnixFd OpenDailyHistory() override;
    void FindGpu(sdbus::Result<sdbus::ObjectPath>&& result, std::string gpu) override;
    sdbus::ObjectPath FindInstance(const std::string& instance) override;
    std::vector<Entry> GetConfiguration() override;
    void Examine(sdbus::Result<std::map<std::string, sdbus::Variant>>&& result) override;

    void UpgradeHot(Begun&& result, std::string version, OptionMap options) override;
    void UpgradeCold(Begun&& result, std::string version, OptionMap options) override;
    void SetMode(Begun&& result, std::string mode, OptionMap options) override;
    void upgrade(upgrade::Kind kind, const char* method, Begun&& result, const std::string& version,
                 const OptionMap& options);

    std::string Version() override { return told_.version; }
    std::uint64_t Generation() override { return service_.node().generation(); }
    std::string Mode() override { return std::string(to_string(upgrader_.mode_of_node())); }
    std::string ModeSource() override { return upgrader_.mode() ? "switched" : "configuration"; }
    std::uint64_t DefaultMemory() override { return service_.default_memory().count(); }
    std::string DefaultMemorySource() override {
        return service_.node().default_memory() ? "set" : "configuration";
    }
    std::string ModuleVersion() override { return upgrader_.installed_in_force(); }
    std::vector<std::string> ModulesInstalled() override;
    std::vector<Entry> Kept() override { return entries_of(service_.node().kept()); }
    std::vector<Entry> Unmanaged() override { return entries_of(unmanaged_.all()); }
    std::vector<Entry> ConfigurationProblems() override { return entries_of(told_.configuration_problems); }
    std::vector<std::string> NewerDriverFunctions() override { return told_.newer_driver_functions; }
    std::map<std::string, std::uint64_t> EventCounts() override { return told_.event_counts; }

    Authority& authority_;
    app::Service& service_;
    app::Upgrader& upgrader_;
    app::UnmanagedContainers& unmanaged_;
    CallerUsage& usage_;
    HandedOut& handed_out_;
    Told& told_;
    app::Examined examined_;
    std::shared_ptr<Examinations> examinations_;
};

}  // namespace cgpu::bus
