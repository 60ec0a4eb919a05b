#include "client/fs/node_view.hpp"

#include <string>
#include <utility>

namespace cgpu::fs {
namespace {

/// As cgpud's.
constexpr std::chrono::milliseconds kRenewedAfter(950);

const client::Usage* usage_in(const client::Snapshot& snapshot, const std::string& id,
                              const std::string& gpu) {
    for (const client::Instance& instance : snapshot.instances)
        if (const client::OnGpu* place = instance.id == id ? instance.on(gpu) : nullptr) return &place->usage;
    return nullptr;
}

}  // namespace

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

client::Result<NodeView::Shared> NodeView::now_for_others() {
    auto node = now();
    if (!node) return node;
    const std::lock_guard lock(mutex_);
    if (figures_ == nullptr || Clock::now() - figures_taken_ >= kRenewedAfter) {
        figures_ = *node;
        figures_taken_ = Clock::now();
        return node;
    }
    auto shown = std::make_shared<client::Snapshot>(**node);
    for (client::Instance& instance : shown->instances)
        for (client::OnGpu& place : instance.gpus)
            if (const auto* usage = usage_in(*figures_, instance.id, place.quota.gpu)) place.usage = *usage;
    return Shared(std::move(shown));
}

client::Result<NodeView::Shared> NodeView::recent() {
    return read_since(Clock::now() - std::chrono::milliseconds(100));
}

client::Result<void> NodeView::change(const Order& order) {
    const std::lock_guard lock(mutex_);
    last_ = nullptr;
    return carry_out(order, node_);
}

}  // namespace cgpu::fs
