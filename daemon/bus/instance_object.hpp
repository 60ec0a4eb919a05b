#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/app/service.hpp"
#include "daemon/app/upgrader.hpp"
#include "daemon/bus/instance_view.hpp"
#include "dbus/compat.hpp"
#include "dbus/generated/instance_adaptor.hpp"

namespace cgpu::bus {

/// org.cgpu1.Instance on the bus; its properties come from a view, as those of GpuObject.
class InstanceObject final : public sdbus::AdaptorInterfaces<org::cgpu1::Instance_adaptor> {
  public:
    InstanceObject(sdbus::IConnection& connection, app::Service& service, const app::Upgrader& upgrader,
                   const model::InstanceId& id, InstanceView view);
    ~InstanceObject();
    InstanceObject(const InstanceObject&) = delete;
    InstanceObject& operator=(const InstanceObject&) = delete;

    void announce();
    /// To be called just before the object goes.
    void announce_removal();
    /// Emits PropertiesChanged with what differs from the view before; nothing where nothing does.
    void update(InstanceView view);

  private:
    void SetWeight(const std::string& gpu, const std::uint32_t& weight,
                   const std::map<std::string, sdbus::Variant>& options) override;
    void SetHighPriority(const std::string& gpu, const bool& high,
                         const std::map<std::string, sdbus::Variant>& options) override;
    void SetMemory(const std::string& gpu, const std::uint64_t& bytes,
                   const std::map<std::string, sdbus::Variant>& options) override;
    std::map<std::string, std::map<std::string, sdbus::Variant>> GetUsage() override;

    std::string Id() override { return view_.id; }
    std::string Name() override { return view_.name; }
    std::uint64_t Created() override { return view_.created; }
    std::string State() override { return view_.state; }
    std::uint32_t Pid() override { return view_.pid; }
    std::string ModuleVersion() override { return view_.module_version; }
    std::map<std::uint32_t, std::string> ModuleVersions() override;
    std::vector<BusQuota> Quotas() override { return view_.quotas; }

    app::Service& service_;
    const app::Upgrader& upgrader_;
    model::InstanceId id_;
    InstanceView view_;
};

}  // namespace cgpu::bus
