#pragma once

#include <map>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/compute/gpu_gates.hpp"

namespace cgpu::app {

/// Steps the gates of all GPUs, and carries between them the reports on instances that are on several GPUs.
/// The order of the GPUs' UUIDs decides which GPU leads (schedule::Lead); any fixed order would do.
class Gangs {
  public:
    using Gpus = std::map<model::Uuid, GpuGates>;

    /// Call after each change of the node, when the gates know it. `gpus` must stay where it is until the
    /// next call.
    void update(const model::Node& node, Gpus& gpus);

    /// One step of every GPU that needs it: its time has come, something has happened there, or another GPU
    /// reports something new on a shared instance. The other GPUs are neither read nor written. GPUs that get
    /// a new report from a later GPU are stepped again. Returns when time alone changes something; kForever:
    /// never.
    schedule::Nanos step(schedule::Nanos now);

  private:
    struct Member {
        std::size_t gpu;  // in gpus_
        std::size_t slot;
    };
    struct Listener {
        std::size_t slot;
        std::vector<Member> others;  // of the same instance, on other GPUs
    };
    struct Gpu {
        GpuGates* gates;
        std::vector<Listener> listeners;
        schedule::GangStates heard;
    };
    [[nodiscard]] schedule::GangStates listen(std::size_t gpu) const;

    std::vector<Gpu> gpus_;
};

}  // namespace cgpu::app
