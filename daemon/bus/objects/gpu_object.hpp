#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/app/instances/service.hpp"
#include "daemon/app/trace/traces.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/calls/handed_out.hpp"
#include "daemon/bus/message/options.hpp"
#include "daemon/bus/objects/gpu_view.hpp"
#include "daemon/bus/usage/caller_usage.hpp"
#include "dbus/compat.hpp"
#include "dbus/generated/gpu_adaptor.hpp"

namespace cgpu::bus {

/// org.cgpu1.Gpu on the bus. Its properties come from a view that was taken when the node last changed, so
/// reading them can't fail (one getter that throws would fail GetManagedObjects for the whole tree).
class GpuObject final : public sdbus::AdaptorInterfaces<org::cgpu1::Gpu_adaptor> {
  public:
    GpuObject(sdbus::IConnection& connection, Authority& authority, app::Service& service,
              app::Traces& traces, CallerUsage& usage, HandedOut& handed_out, const model::Uuid& gpu,
              GpuView view);
    ~GpuObject();
    GpuObject(const GpuObject&) = delete;
    GpuObject& operator=(const GpuObject&) = delete;

    void announce();
    /// Emits PropertiesChanged with the differences from the former view, if there are any.
    void update(GpuView view);
    /// Emits XidError.
    void xid_reported(std::uint64_t code);

  private:
    void SetPolicy(sdbus::Result<>&& result, std::string policy, OptionMap options) override;
    void SetMaxInst(sdbus::Result<>&& result, std::uint32_t max_inst, OptionMap options) override;
    void SetPrioRatio(sdbus::Result<>&& result, std::uint32_t per_cent, OptionMap options) override;
    void SetDrained(sdbus::Result<>&& result, bool drained, OptionMap options) override;
    void Revert(sdbus::Result<>&& result, OptionMap options) override;
    void StartTrace(sdbus::Result<sdbus::UnixFd>&& result, OptionMap options) override;
    std::map<std::string, sdbus::Variant> GetUsage() override;

    std::string Uuid() override { return view_.uuid; }
    std::uint32_t Index() override { return view_.index; }
    std::string Model() override { return view_.model; }
    bool Present() override { return view_.present; }
    bool Drained() override { return view_.drained; }
    std::string Obstacle() override { return view_.obstacle; }
    std::uint64_t MemoryTotal() override { return view_.memory_total; }
    std::uint64_t MemoryAllocated() override { return view_.memory_allocated; }
    std::uint32_t Policy() override { return view_.policy; }
    std::string PolicyName() override { return view_.policy_name; }
    std::uint32_t MaxInst() override { return view_.max_inst; }
    std::uint32_t FreeWeight() override { return view_.free_weight; }
    std::uint32_t PrioRatio() override { return view_.prio_ratio; }
    std::string Mode() override { return view_.mode; }
    std::vector<sdbus::ObjectPath> Instances() override { return view_.instances; }

    Authority& authority_;
    app::Service& service_;
    app::Traces& traces_;
    CallerUsage& usage_;
    HandedOut& handed_out_;
    model::Uuid gpu_;
    GpuView view_;
};

}  // namespace cgpu::bus
