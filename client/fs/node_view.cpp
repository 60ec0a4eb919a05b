#include "client/fs/node_view.hpp"

namespace cgpu::fs {

client::Result<NodeView::Shared> NodeView::read_since(Clock::time_point oldest) {
    const std::lock_guard lock(mutex_);
    if (last_ != nullptr && began_ >= oldest) return last_;
    const auto began = Clock::now();
    auto read = node_.read();
    if (!read) {
        last_ = nullptr;
        return tl::unexpected(read.error());
    }
    last_ = std::make_shared<const client::Snapshot>(std::move(*read));
    began_ = began;
    return last_;
}

client::Result<NodeView::Shared> NodeView::now() { return read_since(Clock::now()); }

client::Result<NodeView::Shared> NodeView::recent() {
    return read_since(Clock::now() - std::chrono::milliseconds(100));
}

client::Result<void> NodeView::change(const Order& order) {
    const std::lock_guard lock(mutex_);
    last_ = nullptr;
    return carry_out(order, node_);
}

}  // namespace cgpu::fs
