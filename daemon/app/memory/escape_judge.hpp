#pragma once

#include <cstdint>
#include <vector>

#include "daemon/app/memory/context_sizes.hpp"
#include "daemon/app/memory/escapes.hpp"
#include "daemon/app/memory/lease_pools.hpp"

namespace cgpu::app {

/// Which of the processes that hold memory of GPUs have got it without the module, and what may be done about
/// that. Both arguments outlive this object.
class EscapeJudge {
  public:
    EscapeJudge(const LeasePools& pools, const ContextSizes& contexts) : pools_(pools), contexts_(contexts) {}

    /// The leases of processes that began before this time (Process::start_time) are lost. What they hold
    /// beyond their lease is charged to them, and says nothing about them.
    void forgive_older_than(std::uint64_t start_time) { forgiven_before_ = start_time; }

    /// All that is to be told of a GPU.
    [[nodiscard]] std::vector<Escapes::Found> found_on(const model::Uuid& gpu) const;
    /// Whether OnEscape::refuse applies to the instance.
    [[nodiscard]] bool refuses(const InstanceKey& instance) const;

  private:
    [[nodiscard]] bool may_be_context(const PoolEntry& entry, const LeasePool::Account& account) const;

    [[nodiscard]] std::uint64_t hidden_by(const LeasePool::Accounts::value_type& item) const;

    const LeasePools& pools_;
    const ContextSizes& contexts_;
    std::uint64_t forgiven_before_ = 0;
};

}  // namespace cgpu::app
