#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/queue/next.hpp"

/// A node and its queue in virtual time: what starts runs for as long as it does, and then goes.
namespace cgpu::test {

class QueueWorld {
  public:
    explicit QueueWorld(model::Node node) : node_(std::move(node)) {}

    model::Node& node() { return node_; }
    queue::Queue& queue() { return queue_; }
    const queue::Queue& const_queue() const { return queue_; }
    queue::Nanos now() const { return now_; }
    admission::Defaults defaults = {};
    limits::Rules rules = {};
    queue::Bounds bounds = {};

    /// One that is there already. Without a `length` nobody knows when it ends, which it does after `lasts`;
    /// without that, never.
    void run(model::Instance instance, std::optional<queue::Nanos> length,
             std::optional<queue::Nanos> lasts = std::nullopt);
    /// One that waits. Without a time limit it `lasts` as long, or for ever.
    queue::Ticket ask(queue::Waiting waiting, std::optional<queue::Nanos> lasts = std::nullopt);

    /// Starts who may start, until nobody may. Throws if a grant doesn't fit on the node, or within the
    /// limits.
    queue::Decision settle();
    /// On to the next end, with all that happens then. False: nothing ends any more.
    bool step();
    void wait_until(queue::Nanos at);

    /// When each of those has started that have.
    const std::map<queue::Ticket, queue::Nanos>& starts() const { return starts_; }
    queue::Decision next() const;

  private:
    void start(const queue::Start& start);
    limits::Allowance allowance_of(const model::Node& node, const model::Owner& owner) const;

    model::Node node_;
    queue::Queue queue_;
    queue::Nanos now_ = 0;
    queue::Ends limits_;                              ///< those that are known
    std::map<model::InstanceId, queue::Nanos> ends_;  ///< when they really end
    std::map<queue::Ticket, queue::Nanos> lasts_;     ///< of those without a time limit
    std::map<queue::Ticket, queue::Nanos> starts_;
};

}  // namespace cgpu::test
