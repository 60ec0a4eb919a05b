#pragma once

#include <map>
#include <optional>
#include <string>

#include "daemon/app/instances/service.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/objects/gpu_object.hpp"
#include "daemon/bus/objects/instance_object.hpp"
#include "daemon/bus/objects/job_object.hpp"
#include "daemon/bus/objects/manager_object.hpp"

namespace cgpu::bus {

/// All objects on the bus, kept as the service's node is.
class Objects {
  public:
    /// Exports everything the node holds.
    Objects(sdbus::IConnection& connection, app::Service& service, app::Upgrader& upgrader,
            std::string version);

    /// GPUs that are new are exported, the others say what changed.
    void refresh_gpus();
    void xid_reported(const model::XidError& xid);
    /// Exports it where it is new, says what changed, or takes it away where the node has it no longer.
    void refresh(const model::InstanceId& id);
    /// Exports the job where it is a new one, in the place of the one before, or says what changed.
    void refresh_job();
    [[nodiscard]] ManagerObject& manager() { return manager_; }

  private:
    sdbus::IConnection& connection_;
    Authority authority_;  // before the objects, whose calls it decides
    app::Service& service_;
    app::Upgrader& upgrader_;
    ManagerObject manager_;
    std::optional<JobObject> job_;
    std::map<model::Uuid, GpuObject> gpus_;
    std::map<model::InstanceId, InstanceObject> instances_;
};

}  // namespace cgpu::bus
