#pragma once

#include <cstdint>

#include "daemon/app/events/events.hpp"
#include "daemon/app/events/repeated_by_user.hpp"

namespace cgpu::app {

/// Allocations that an instance's memory limit refused, as events. Each of its GPUs is told of as rarely as
/// RepeatedByUser says: a program may try again a thousand times a second, and a user have instance after
/// instance.
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

    /// `repeated`: those of all instances.
    explicit RefusedAllocations(RepeatedByUser& repeated) : repeated_(repeated) {}

    void happened(const model::Instance& instance, const Refused& refused);

  private:
    RepeatedByUser& repeated_;
};

}  // namespace cgpu::app
