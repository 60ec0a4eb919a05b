#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/app/instances/base/xids.hpp"
#include "daemon/app/instances/node_state.hpp"

namespace cgpu::app {

/// The GPUs: what the driver reports of them.
class GpuRegister {
  public:
    GpuRegister(NodeState& state, Publisher& publisher, Events& events)
        : state_(state), publisher_(publisher), events_(events) {}

    /// The GPUs that the driver shows now. `settings_for`: the settings of a GPU that is seen for the first
    /// time.
    void seen(const model::SeenGpus& seen,
              const std::function<model::GpuSettings(const model::SeenGpu&)>& settings_for);
    /// The driver shows no GPU any more.
    void driver_lost(const std::string& why);
    /// How often the driver has reported errors of the GPU.
    [[nodiscard]] XidCount xids_of(const model::Uuid& gpu) const;

  private:
    void tell_changes(Result<bool> changed, const std::vector<model::Gpu>& before);
    void xid_reported(const model::XidError& xid);

    NodeState& state_;
    Publisher& publisher_;
    Events& events_;
    XidCounts xids_;
};

}  // namespace cgpu::app
