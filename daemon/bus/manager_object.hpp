#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/app/service.hpp"
#include "daemon/app/upgrader.hpp"
#include "daemon/bus/instance_view.hpp"
#include "dbus/compat.hpp"
#include "dbus/generated/manager_adaptor.hpp"

namespace cgpu::bus {

/// org.cgpu1.Manager, with the ObjectManager of the whole tree beside it.
class ManagerObject final
    : public sdbus::AdaptorInterfaces<org::cgpu1::Manager_adaptor, sdbus::ObjectManager_adaptor> {
  public:
    ManagerObject(sdbus::IConnection& connection, app::Service& service, app::Upgrader& upgrader,
                  std::string version);
    ~ManagerObject();
    ManagerObject(const ManagerObject&) = delete;
    ManagerObject& operator=(const ManagerObject&) = delete;

    /// Tells of another version of the module in force.
    void module_changed();
    /// Tells of another mode of the node, or of where it comes from.
    void mode_changed();
    void job_ended(const upgrade::Ended& ended);

  private:
    std::tuple<sdbus::ObjectPath, std::vector<BusQuota>, std::string, std::vector<std::string>>
    CreateInstance(const std::string& id, const std::string& name,
                   const std::map<std::string, std::string>& variables,
                   const std::map<std::string, sdbus::Variant>& options) override;
    void Attach(const std::string& id, const std::uint32_t& pid,
                const std::map<std::string, sdbus::Variant>& options) override;
    void ReleaseInstance(const std::string& id,
                         const std::map<std::string, sdbus::Variant>& options) override;
    sdbus::ObjectPath FindGpu(const std::string& gpu) override;
    sdbus::ObjectPath FindInstance(const std::string& instance) override;

    sdbus::ObjectPath UpgradeHot(const std::string& version,
                                 const std::map<std::string, sdbus::Variant>& options) override;
    sdbus::ObjectPath UpgradeCold(const std::string& version,
                                  const std::map<std::string, sdbus::Variant>& options) override;
    sdbus::ObjectPath SetMode(const std::string& mode,
                              const std::map<std::string, sdbus::Variant>& options) override;
    sdbus::ObjectPath begin(upgrade::Kind kind, const std::string& version,
                            const std::map<std::string, sdbus::Variant>& options);

    std::string Version() override { return version_; }
    std::string Mode() override { return std::string(to_string(upgrader_.mode_of_node())); }
    std::string ModeSource() override { return upgrader_.mode() ? "switched" : "configuration"; }
    std::string ModuleVersion() override { return upgrader_.installed_in_force(); }

    app::Service& service_;
    app::Upgrader& upgrader_;
    std::string version_;
};

}  // namespace cgpu::bus
