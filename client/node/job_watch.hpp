#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace cgpu::client {

/// Watches one job from its construction on. Read the job after that: then no change is missed, whatever
/// happens between the read and the wait.
class JobWatch {
  public:
    enum class Woke {
        changed,      ///< the job may have changed since it was last read, or cgpud started or stopped
        interrupted,  ///< the descriptor can be read
        timeout,
    };

    virtual ~JobWatch() = default;
    /// Sleeps until there is a reason to read the job again; returns at once if there has been one since the
    /// last wait. `interrupt`: a descriptor that ends the wait when it becomes readable. `most`: the maximum
    /// time; empty: no limit.
    virtual Woke wait(int interrupt, std::optional<std::chrono::milliseconds> most) = 0;
    /// The result of the job, if it was signalled: its object may have been replaced by the next job's.
    [[nodiscard]] virtual std::optional<std::string> result() const = 0;
};

}  // namespace cgpu::client
