#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace cgpu::client {

/// Hears of one job from the moment it is made. Read the job after that: then nothing is missed, whatever
/// happens between the reading and the waiting.
class JobWatch {
  public:
    enum class Woke {
        changed,      ///< the job may be another one than when it was last read, or cgpud came or went
        interrupted,  ///< the descriptor can be read
        timeout,
    };

    virtual ~JobWatch() = default;
    /// Sleeps until there is a reason to read the job again; at once where there has been one since the last
    /// wait. `interrupt`: a descriptor that ends it when it can be read. `most`: at most so long; nothing: as
    /// long as it takes.
    virtual Woke wait(int interrupt, std::optional<std::chrono::milliseconds> most) = 0;
    /// How it ended, where that was told: its object may have made room for the next job's by now.
    [[nodiscard]] virtual std::optional<std::string> result() const = 0;
};

}  // namespace cgpu::client
