#include "daemon/app/instances/node_state.hpp"

#include "daemon/app/events/setting_events.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {

Result<bool> NodeState::change(const Transition& transition, Options options) {
    if (options.if_generation && *options.if_generation != node_.generation())
        return model::refuse(model::Refusal::Reason::changed,
                             "generation " + std::to_string(*options.if_generation),
                             "the node has changed since then, and has generation " +
                                 std::to_string(node_.generation()) + " now",
                             "read the node's state again (cgpuctl describe), and decide by that");
    auto next = node_;
    const auto done = transition(next);
    if (!done) return tl::unexpected(done.error());
    if (*done == model::Change::unchanged || options.dry_run) return false;
    if (auto saved = save(next); !saved) return tl::unexpected(saved.error());
    take(std::move(next), options);
    return true;
}

Result<void> NodeState::save(const model::Node& node) {
    auto saved = store_.save(node);
    refused_ = !saved;
    return saved;
}

Result<void> NodeState::writable() {
    if (!refused_) return {};
    return save(node_);
}

void NodeState::boot_ended() {
    auto next = node_;
    next.boot_ended();
    if (const auto saved = save(next); !saved)
        log::error("what held until the reboot has ended: {}", saved.error().text);
    take(std::move(next), {});
}

void NodeState::take(model::Node next, const Options& options) {
    const auto before = std::exchange(node_, std::move(next));
    tell_followers();
    for (auto& event : setting_events(before, node_, options.by, options.persist))
        events_.happened(std::move(event));
}

}  // namespace cgpu::app
