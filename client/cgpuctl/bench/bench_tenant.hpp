#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

/// A program that keeps a GPU busy and counts its completed kernels (client/load). It ends with this object.
class BenchTenant {
  public:
    /// The number of completed kernels at a moment, as the program reports it.
    struct Sample {
        std::int64_t at_ns = 0;  ///< CLOCK_MONOTONIC
        std::uint64_t kernels = 0;
    };

    /// Starts the command in a process of its own; its errors go to this program's stderr. `environment`:
    /// NAME=VALUE, which replaces a variable of that name. Error (failed): it can't be started.
    static client::Result<BenchTenant> start(const std::vector<std::string>& command,
                                             const std::vector<std::string>& environment);
    ~BenchTenant();
    BenchTenant(BenchTenant&& other) noexcept;
    BenchTenant& operator=(BenchTenant&& other) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] int output() const { return output_; }
    /// Reads what the program has written. False: it has ended.
    bool read();
    [[nodiscard]] bool ready() const { return ready_; }
    [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

  private:
    BenchTenant(pid_t pid, int output) : pid_(pid), output_(output) {}
    void take(const std::string& line);

    pid_t pid_;
    int output_;
    bool ready_ = false;
    std::string unfinished_;  ///< the beginning of a line
    std::vector<Sample> samples_;
};

/// Kernels per second between the first sample at or after `from` and the last one at or before `to`, both
/// CLOCK_MONOTONIC in nanoseconds; empty if there are no two such samples.
[[nodiscard]] std::optional<double> rate(const std::vector<BenchTenant::Sample>& samples, std::int64_t from,
                                         std::int64_t to);

}  // namespace cgpu::cgpuctl
