#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/view/instance.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Users and commands of processes, for people. They are read once a second at most, however often they are
/// asked for: there may be hundreds of processes, and everybody may ask.
class ProcessFacts {
  public:
    /// The arguments outlive this object.
    ProcessFacts(const Loop& loop, Processes& processes) : loop_(loop), processes_(processes) {}

    /// Sorted by pid; each process once.
    [[nodiscard]] std::vector<view::Process> of(const std::vector<model::Process>& all);

  private:
    const Loop& loop_;
    Processes& processes_;
    Nanos since_ = 0;  ///< when the oldest of them was read
    std::map<std::pair<std::int32_t, std::uint64_t>, view::Process> known_;  ///< by pid and start time
};

}  // namespace cgpu::app
