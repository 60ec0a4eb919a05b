#pragma once

#include <map>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/compute/gpu_gates.hpp"

namespace cgpu::app {

/// Steps the gates of all GPUs, and carries between them what they say of the instances that are on several.
/// The order of the GPUs' UUIDs decides who leads (schedule::Lead): any fixed order does.
class Gangs {
  public:
    using Gpus = std::map<model::Uuid, GpuGates>;

    /// After each change of the node that the gates have heard of. `gpus` must stay where it is until the
    /// next one.
    void update(const model::Node& node, Gpus& gpus);

    /// One step of every GPU that has something to do: it is time, something has happened there, or another
    /// says something new of an instance that is on both. Of the others nothing is read or written. A further
    /// one of those to which one said something new that comes after them. Returns when time alone changes
    /// something; kForever: never.
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
