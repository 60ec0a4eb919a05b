#pragma once

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

    /// All that is to be told of a GPU.
    [[nodiscard]] std::vector<Escapes::Found> found_on(const model::Uuid& gpu) const;
    /// Whether OnEscape::refuse applies to the instance.
    [[nodiscard]] bool refuses(const InstanceKey& instance) const;

  private:
    [[nodiscard]] bool may_be_context(const PoolEntry& entry, const LeasePool::Account& account) const;

    const LeasePools& pools_;
    const ContextSizes& contexts_;
};

}  // namespace cgpu::app
