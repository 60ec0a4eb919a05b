#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "daemon/app/bell_wait.hpp"
#include "daemon/app/gpu_gates.hpp"
#include "daemon/app/pages.hpp"

namespace cgpu::app {

/// Which instances' bells the slicer sleeps on: those whose ring could be news. An instance that has nothing
/// in flight and whose launches are held on all of its GPUs can tell nothing new until a gate opens; with 25
/// busy instances that is nearly all of them, and every word waited on costs the kernel a look-up of its
/// page.
class Bells {
  public:
    struct Place {
        const GpuGates* gates;
        std::size_t slot;
    };

    /// Nobody is listened to.
    void clear() { ears_.clear(); }
    /// `places`: the instance's slots on all of its GPUs.
    void add(std::shared_ptr<const InstanceBell> bell, std::vector<Place> places);

    /// Before a step reads the reports: what was rung until now, it sees.
    void hear();
    /// After the step: the words to wait on. Who is listened to again gets the value heard last, so a ring
    /// while nobody listened ends the wait at once.
    void listen(BellWait& wait);

  private:
    struct Ear {
        std::shared_ptr<const InstanceBell> bell;
        std::vector<Place> places;
        std::uint32_t heard;
        bool listens;
    };
    std::vector<Ear> ears_;
};

}  // namespace cgpu::app
