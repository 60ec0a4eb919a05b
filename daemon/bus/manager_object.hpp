#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/app/service.hpp"
#include "daemon/bus/instance_view.hpp"
#include "daemon/bus/versions.hpp"
#include "dbus/compat.hpp"
#include "dbus/generated/manager_adaptor.hpp"

namespace cgpu::bus {

/// org.cgpu1.Manager, with the ObjectManager of the whole tree beside it.
class ManagerObject final
    : public sdbus::AdaptorInterfaces<org::cgpu1::Manager_adaptor, sdbus::ObjectManager_adaptor> {
  public:
    ManagerObject(sdbus::IConnection& connection, app::Service& service, Versions versions);
    ~ManagerObject();
    ManagerObject(const ManagerObject&) = delete;
    ManagerObject& operator=(const ManagerObject&) = delete;

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

    std::string Version() override { return versions_.daemon; }
    std::string ModuleVersion() override { return versions_.module; }

    app::Service& service_;
    Versions versions_;
};

}  // namespace cgpu::bus
