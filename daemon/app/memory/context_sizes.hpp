#pragma once

#include <cstdint>
#include <map>

#include "daemon/app/memory/context_estimate.hpp"
#include "daemon/app/memory/pool/lease_table.hpp"

namespace cgpu::app {

/// The sizes of contexts on each GPU, as far as they were measured; the table keeps them for a later daemon.
class ContextSizes {
  public:
    /// `first`: bytes, until a context was measured on a GPU. The table outlives this object.
    ContextSizes(LeaseTable& table, std::uint64_t first);

    /// The largest size that is accepted, in bytes: none above it is learnt, unless the administrator
    /// configures that contexts are larger.
    [[nodiscard]] std::uint64_t largest() const { return largest_; }
    /// The driver showed this many bytes for a context of this instance.
    void learn(const model::Uuid& gpu, const model::InstanceId& instance, std::uint64_t bytes);
    /// Whether the estimate is a size that was measured on the GPU.
    [[nodiscard]] bool measured(const model::Uuid& gpu) const;
    /// Whether contexts on the GPU may be larger than is known, up to largest(): none was measured there, and
    /// `shown` bytes were learnt of an instance's (0: nothing), which is at most twice the first estimate.
    [[nodiscard]] bool may_be_larger(const model::Uuid& gpu, std::uint64_t shown) const;
    /// Bytes, whole granules.
    [[nodiscard]] std::uint64_t estimate(const model::Uuid& gpu) const;

  private:
    LeaseTable& table_;
    std::uint64_t first_;
    std::uint64_t largest_;
    std::map<model::Uuid, ContextEstimate> estimates_;
};

}  // namespace cgpu::app
