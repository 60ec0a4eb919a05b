#pragma once

#include <cstdint>
#include <optional>

#include "daemon/app/memory/pool/lease_key.hpp"

namespace cgpu::app {

/// What a process reports of one GPU, unchecked.
struct LeaseReport {
    std::uint64_t charged = 0;   ///< bytes
    std::uint64_t pooled = 0;    ///< of them, what the driver may have taken back already
    std::uint32_t changing = 0;  ///< not 0: what it holds is not what it has charged at this moment
    std::uint32_t changes = 0;   ///< how often that has been so

    friend bool operator==(const LeaseReport&, const LeaseReport&) = default;
};

/// The processes behind the leases (link::Server is the real one).
class LeasePeers {
  public:
    virtual ~LeasePeers() = default;
    /// Nothing where it has not reported yet.
    [[nodiscard]] virtual std::optional<LeaseReport> report(const LeaseKey& key) const = 0;
    /// Asks it to give back bytes of its lease that it doesn't use. False where it can't be reached.
    virtual bool recall(const LeaseKey& key, std::uint64_t bytes) = 0;
    /// The driver shows memory of a process on this GPU that no instance accounts for. Takes it in where it
    /// belongs to one.
    virtual void stranger(const model::Uuid& gpu, std::int32_t pid) = 0;
    /// The last lease of this instance has ended. Called on the loop, later.
    virtual void memory_gone(const InstanceKey& instance) = 0;
};

}  // namespace cgpu::app
