#pragma once

#include <map>
#include <utility>

#include "core/model/transitions.hpp"
#include "daemon/app/events/events.hpp"
#include "daemon/app/instances/options.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// The node's state, in memory and on the disk: the state that this shows has been saved.
class NodeState {
  public:
    using Transition = model::Transition;

    NodeState(model::Node node, Store& store, NodeFollowers followers, Events& events)
        : node_(std::move(node)), store_(store), followers_(std::move(followers)), events_(events) {}
    NodeState(const NodeState&) = delete;
    NodeState& operator=(const NodeState&) = delete;

    [[nodiscard]] const model::Node& node() const { return node_; }

    /// Tries the transition on a copy, saves the copy, makes it current, tells the followers, and makes an
    /// event for each setting that differs now. True: the node has changed.
    Result<bool> change(const Transition& transition, Options options);
    /// What held until the reboot, and the instances of that boot, are gone; also where the disk refuses to
    /// save that, because the next cgpud finds the same by the same state. The next change saves it, too.
    void boot_ended();
    /// Refused (storage): the disk didn't take the last change, and doesn't take the state as it is now.
    Result<void> writable();
    void tell_followers() const {
        for (NodeFollower& follower : followers_) follower.update(node_);
    }
    /// See model::Node.
    void set_boot_id(std::string boot_id) { node_.set_boot_id(std::move(boot_id)); }
    /// See model::Node. It isn't saved, and concerns new grants only.
    void set_held_unmanaged(std::map<model::Uuid, model::Bytes> held) {
        node_.set_held_unmanaged(std::move(held));
    }

  private:
    void take(model::Node next, const Options& options);
    Result<void> save(const model::Node& node);

    model::Node node_;
    bool refused_ = false;  ///< by the disk, the last time
    Store& store_;
    NodeFollowers followers_;
    Events& events_;
};

}  // namespace cgpu::app
