#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/app/instances/node_state.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// Changes of what an instance may use, now and, with Options::persist, at its next starts.
class QuotaChanges {
  public:
    QuotaChanges(NodeState& state, Links& links, Publisher& publisher, UsageSource& usage)
        : state_(state), links_(links), publisher_(publisher), usage_(usage) {}

    /// `gpu`: any of its names; empty if the instance has one GPU only.
    Result<void> set_weight(const model::InstanceId& id, std::string_view gpu, std::uint32_t weight,
                            Options options);
    Result<void> set_high_priority(const model::InstanceId& id, std::string_view gpu, bool high,
                                   Options options);
    Result<void> set_memory(const model::InstanceId& id, std::string_view gpu, std::uint64_t bytes,
                            Options options);
    /// Drops what `persist` has kept for the name; see Node::forget().
    Result<void> forget(std::string_view name, std::optional<std::uint32_t> owner, Options options);

  private:
    /// Changes an instance's quota and, with `persist`, the settings kept for its next starts: both or
    /// neither. True: the node has changed.
    Result<bool> change(const model::InstanceId& id, const model::Uuid& gpu,
                        const model::KeptFigures& figures, const NodeState::Transition& transition,
                        Options options);

    NodeState& state_;
    Links& links_;
    Publisher& publisher_;
    UsageSource& usage_;
};

}  // namespace cgpu::app
