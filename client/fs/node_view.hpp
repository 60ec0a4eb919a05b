#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "client/fs/orders.hpp"
#include "client/node/node.hpp"

namespace cgpu::fs {

/// The node for many threads: one call of the bus at a time.
class NodeView {
  public:
    using Shared = std::shared_ptr<const client::Snapshot>;
    using Clock = std::chrono::steady_clock;

    explicit NodeView(client::Node& node) : node_(node) {}

    /// As the node is now. Readers that come while one is being read share the next one.
    [[nodiscard]] client::Result<Shared> now();
    /// The same with figures of usage that are renewed about once a second, however often they are read: what
    /// everybody but root may know of the work of others, as from cgpud itself.
    [[nodiscard]] client::Result<Shared> now_for_others();
    /// As it was a tenth of a second ago at most: for names and permissions, which a walk through the tree
    /// asks for once per file.
    [[nodiscard]] client::Result<Shared> recent();
    [[nodiscard]] client::Result<void> change(const Order& order);

  private:
    client::Result<Shared> read_since(Clock::time_point oldest);

    std::mutex mutex_;
    client::Node& node_;
    Shared last_;
    Clock::time_point began_;  ///< when the reading of the last one began
    Shared figures_;           ///< of usage, for others than root
    Clock::time_point figures_taken_;
};

}  // namespace cgpu::fs
