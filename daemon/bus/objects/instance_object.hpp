#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/app/instances/service.hpp"
#include "daemon/app/upgrade/upgrader.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/message/options.hpp"
#include "daemon/bus/objects/description.hpp"
#include "daemon/bus/objects/instance_view.hpp"
#include "daemon/bus/usage/caller_usage.hpp"
#include "dbus/compat.hpp"
#include "dbus/generated/instance_adaptor.hpp"

namespace cgpu::bus {

/// org.cgpu1.Instance on the bus; its properties come from a view, as those of GpuObject do.
class InstanceObject final : public sdbus::AdaptorInterfaces<org::cgpu1::Instance_adaptor> {
  public:
    InstanceObject(sdbus::IConnection& connection, Authority& authority, app::Service& service,
                   const app::Upgrader& upgrader, CallerUsage& usage, const Told& told,
                   const model::InstanceId& id, InstanceView view);
    ~InstanceObject();
    InstanceObject(const InstanceObject&) = delete;
    InstanceObject& operator=(const InstanceObject&) = delete;

    void announce();
    /// Call just before the object is removed.
    void announce_removal();
    [[nodiscard]] const std::string& name() const { return view_.name; }
    /// Emits PropertiesChanged with the differences from the former view, if there are any.
    void update(InstanceView view);

  private:
    /// Answers a method that makes this change.
    void change(sdbus::Result<>&& result, const char* method, app::QuotaChange change,
                const OptionMap& options, Known known);
    void SetWeight(sdbus::Result<>&& result, std::string gpu, std::uint32_t weight,
                   OptionMap options) override;
    void SetHighPriority(sdbus::Result<>&& result, std::string gpu, bool high, OptionMap options) override;
    void SetMemory(sdbus::Result<>&& result, std::string gpu, std::uint64_t bytes,
                   OptionMap options) override;
    void SetPaused(sdbus::Result<>&& result, std::string gpu, bool paused, OptionMap options) override;
    void Revert(sdbus::Result<>&& result, std::string gpu, OptionMap options) override;
    void Rename(sdbus::Result<>&& result, std::string name, OptionMap options) override;
    void Stop(sdbus::Result<std::vector<std::uint32_t>>&& result, std::uint32_t grace,
              OptionMap options) override;
    std::map<std::string, std::map<std::string, sdbus::Variant>> GetUsage() override;

    std::string Id() override { return view_.id; }
    std::string Name() override { return view_.name; }
    std::string Image() override { return view_.image; }
    std::uint32_t Owner() override { return view_.owner.user.value_or(model::kNobody); }
    std::string DeclaredOwner() override { return view_.owner.declared; }
    std::uint64_t Created() override { return view_.created; }
    std::string State() override { return view_.state; }
    std::uint32_t QueuePosition() override;
    std::string WaitsFor() override;
    std::uint32_t Pid() override { return view_.pid; }
    std::string ModuleVersion() override { return view_.module_version; }
    std::map<std::uint32_t, std::string> ModuleVersions() override;
    std::map<std::string, std::uint32_t> WithoutDriver() override;
    std::vector<BusQuota> Quotas() override { return view_.quotas; }
    std::map<std::string, std::uint32_t> Percentages() override { return view_.percentages; }
    std::vector<std::string> Paused() override { return view_.paused; }
    std::uint64_t TimeLimit() override { return view_.time_limit; }
    std::uint64_t TimeLeft() override;
    std::uint64_t IdleLimit() override { return view_.idle_limit; }
    std::map<std::string, std::map<std::string, sdbus::Variant>> Admitted() override;

    Authority& authority_;
    app::Service& service_;
    const app::Upgrader& upgrader_;
    CallerUsage& usage_;
    const Told& told_;
    model::InstanceId id_;
    InstanceView view_;
};

}  // namespace cgpu::bus
