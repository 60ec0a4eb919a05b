#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "daemon/app/events/events.hpp"
#include "daemon/app/events/repeated.hpp"

namespace cgpu::app {

/// Allocations that an instance's memory limit refused, as events. Each of its GPUs is told of as rarely as
/// Repeated says, because a program may try again a thousand times a second.
class RefusedAllocations {
  public:
    struct Refused {
        model::Uuid gpu;
        std::int32_t process = 0;  ///< host pid
        std::uint64_t asked = 0;   ///< bytes, as are the others
        std::uint64_t used = 0;    ///< by the whole instance
        std::uint64_t limit = 0;
        std::uint64_t number = 0;  ///< how many the instance was refused on this GPU so far
    };

    RefusedAllocations(Loop& loop, Events& events) : loop_(loop), events_(events) {}

    void happened(const model::Instance& instance, const Refused& refused);

  private:
    Loop& loop_;
    Events& events_;
    std::map<model::Uuid, std::unique_ptr<Repeated>> of_gpus_;
};

}  // namespace cgpu::app
