#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "daemon/app/events/events.hpp"
#include "daemon/app/events/repeated.hpp"

namespace cgpu::app {

/// Reports of compute that can't be true, as events: for each instance and GPU as rarely as Repeated says,
/// because a program may write one a thousand times a second.
class DoubtedReports {
  public:
    DoubtedReports(Loop& loop, Events& events) : loop_(loop), events_(events) {}

    /// `process`: host pid.
    void happened(const model::Instance& instance, const model::Uuid& gpu, std::int32_t process);

  private:
    Loop& loop_;
    Events& events_;
    std::map<std::pair<model::InstanceId, model::Uuid>, std::unique_ptr<Repeated>> series_;
};

}  // namespace cgpu::app
