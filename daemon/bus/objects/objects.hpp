#pragma once

#include <map>
#include <optional>
#include <string>

#include "daemon/app/instances/service.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/calls/handed_out.hpp"
#include "daemon/bus/objects/gpu_object.hpp"
#include "daemon/bus/objects/instance_object.hpp"
#include "daemon/bus/objects/job_object.hpp"
#include "daemon/bus/objects/manager_object.hpp"
#include "daemon/bus/usage/caller_usage.hpp"

namespace cgpu::bus {

/// All objects on the bus, kept in step with the service's node.
class Objects {
  public:
    /// Exports everything in the node, without a signal for each object: nobody can know of objects before
    /// the bus's name is taken.
    Objects(sdbus::IConnection& connection, Callers& callers, const app::Loop& loop, app::Service& service,
            app::Upgrader& upgrader, app::UnmanagedContainers& unmanaged, app::Traces& traces,
            std::string version, const app::Examined& examined);

    /// Exports new GPUs, and emits the changes of the others.
    void refresh_gpus();
    void xid_reported(const model::XidError& xid);
    void happened(const app::Event& event, const app::Stamp& stamp);
    /// Exports a new instance, emits its changes, or removes it if the node no longer has it.
    void refresh(const model::InstanceId& id);
    /// Exports a new job in the place of the last one, or emits the changes of the job.
    void refresh_job();
    [[nodiscard]] ManagerObject& manager() { return manager_; }
    [[nodiscard]] Authority& authority() { return authority_; }

  private:
    void refused(const Authority::Refused& call);
    template <class Object>
    void announce(Object& object);

    sdbus::IConnection& connection_;
    Authority authority_;  // before the objects, whose calls it decides
    HandedOut handed_out_;
    app::Service& service_;
    app::Upgrader& upgrader_;
    app::Traces& traces_;
    CallerUsage usage_;
    Told told_;
    ManagerObject manager_;
    std::optional<JobObject> job_;
    model::Node shown_;  ///< what the objects of the GPUs show
    std::optional<model::Mode> shown_mode_;
    std::map<model::Uuid, GpuObject> gpus_;
    std::map<model::InstanceId, InstanceObject> instances_;
    bool announcing_ = false;  ///< objects that are added from now on
};

}  // namespace cgpu::bus
