#pragma once

#include <cstdint>
#include <optional>

#include "daemon/app/lease_key.hpp"

namespace cgpu::app {

/// The processes behind the leases (link::Server is the real one).
class LeasePeers {
  public:
    virtual ~LeasePeers() = default;
    /// What the process reports as charged on this GPU, unchecked; nothing where it has not reported yet.
    [[nodiscard]] virtual std::optional<std::uint64_t> charged(const LeaseKey& key) const = 0;
    /// Asks it to give back bytes of its lease that it doesn't use. False where it can't be reached.
    virtual bool recall(const LeaseKey& key, std::uint64_t bytes) = 0;
    /// The driver shows memory of a process that no instance accounts for. Takes it in where it belongs to
    /// one.
    virtual void stranger(std::int32_t pid) = 0;
    /// The last lease of this instance has ended. Called on the loop, later.
    virtual void memory_gone(const InstanceKey& instance) = 0;
};

}  // namespace cgpu::app
