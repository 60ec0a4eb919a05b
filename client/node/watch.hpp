#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace cgpu::client {

/// Watches something of cgpud's from its construction on. Read it after that: then no change is missed,
/// whatever happens between the read and the wait.
class Watch {
  public:
    enum class Woke {
        changed,      ///< it may have changed since it was last read, or cgpud started or stopped
        interrupted,  ///< the descriptor can be read
        timeout,
    };

    virtual ~Watch() = default;
    /// Sleeps until there is a reason to read it again; returns at once if there has been one since the last
    /// wait. `interrupt`: a descriptor that ends the wait when it becomes readable; -1: none. `most`: the
    /// maximum time; empty: no limit.
    virtual Woke wait(int interrupt, std::optional<std::chrono::milliseconds> most) = 0;
};

/// Watches one job.
class JobWatch : public Watch {
  public:
    /// The result of the job, if it was signalled: its object may have been replaced by the next job's.
    [[nodiscard]] virtual std::optional<std::string> result() const = 0;
};

}  // namespace cgpu::client
