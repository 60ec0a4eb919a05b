#pragma once

#include <cstdint>
#include <optional>

#include "daemon/app/memory/pool/lease_key.hpp"

namespace cgpu::app {

/// What a process reports of one GPU, unchecked.
struct LeaseReport {
    std::uint64_t charged = 0;   ///< bytes
    std::uint64_t pooled = 0;    ///< the part that the driver may have taken back already
    std::uint32_t changing = 0;  ///< not 0: at this moment its memory differs from its charges
    std::uint32_t changes = 0;   ///< how often that has happened

    friend bool operator==(const LeaseReport&, const LeaseReport&) = default;
};

/// The processes that hold leases; link::Server implements it.
class LeasePeers {
  public:
    virtual ~LeasePeers() = default;
    /// Empty if it has not reported yet.
    [[nodiscard]] virtual std::optional<LeaseReport> report(const LeaseKey& key) const = 0;
    /// Asks it to return bytes of its lease that it doesn't use. False if it can't be reached.
    virtual bool recall(const LeaseKey& key, std::uint64_t bytes) = 0;
    /// The driver shows memory on this GPU of a process that no instance accounts for. Takes the process in
    /// if it belongs to an instance.
    virtual void stranger(const model::Uuid& gpu, std::int32_t pid) = 0;
    /// The last lease of this instance has ended. Called on the loop, later.
    virtual void memory_gone(const InstanceKey& instance) = 0;
};

}  // namespace cgpu::app
