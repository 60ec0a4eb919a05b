#include "daemon/app/instances/node_state.hpp"

namespace cgpu::app {

Result<bool> NodeState::change(const Transition& transition, Options options) {
    auto next = node_;
    const auto done = transition(next);
    if (!done) return tl::unexpected(done.error());
    if (*done == model::Change::unchanged || options.dry_run) return false;
    if (auto saved = store_.save(next); !saved) return tl::unexpected(saved.error());
    node_ = std::move(next);
    compute_.update(node_);
    return true;
}

}  // namespace cgpu::app
