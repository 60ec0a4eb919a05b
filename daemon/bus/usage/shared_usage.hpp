#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::bus {

/// The figures of usage for everybody but root. They are renewed about once a second, however often they are
/// read: their course within a second tells what jobs compute (see org.cgpu1.trace). All readers get the
/// same. Nothing is read, and nothing wakes, while nobody asks.
class SharedUsage {
  public:
    /// Somebody who reads once a second gets new figures each time.
    static constexpr app::Nanos kRenewedAfter = 950 * app::kSecond / 1000;

    /// `read`: the figures of now. The loop outlives this object.
    SharedUsage(const app::Loop& loop, std::function<app::NodeUsage()> read)
        : loop_(loop), read_(std::move(read)) {}

    struct Aged {
        const app::NodeUsage& usage;  ///< valid until the next call
        app::Nanos age;               ///< since it was read
    };
    /// An instance that has come since the last time has the figures of when it was first asked about. Limits
    /// and errors of GPUs are those of now.
    [[nodiscard]] Aged usage();

  private:
    void take_over(const app::NodeUsage& now);

    const app::Loop& loop_;
    std::function<app::NodeUsage()> read_;
    std::optional<app::Nanos> taken_;
    app::NodeUsage usage_;
};

}  // namespace cgpu::bus
