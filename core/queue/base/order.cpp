#include "core/queue/base/order.hpp"

#include <algorithm>
#include <cmath>

namespace cgpu::queue {

RecentUse recent_use(std::span<const Use> uses, Nanos now, Nanos half_life) {
    RecentUse recent;
    for (const Use& use : uses) {
        // A clock that was set back makes no use count for more than it was.
        const auto age = static_cast<double>(std::max<Nanos>(now - use.until, 0));
        const double part = half_life > 0 ? std::exp2(-age / static_cast<double>(half_life)) : 0;
        recent[use.owner] += static_cast<double>(use.gpu_time) * part;
    }
    return recent;
}

Order in_order(const Queue& queue, const RecentUse* fair) {
    struct Key {
        const Waiting* waiting;
        double recent;
    };
    std::vector<Key> keys;
    keys.reserve(queue.size());
    for (const auto& waiting : queue.all()) {
        double recent = 0;
        if (fair != nullptr)
            if (const auto found = fair->find(waiting->owner); found != fair->end()) recent = found->second;
        keys.push_back({waiting.get(), recent});
    }
    // The queue is in the order of the tickets, which decide where nothing else does.
    std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        if (a.waiting->priority != b.waiting->priority) return a.waiting->priority > b.waiting->priority;
        return a.recent < b.recent;
    });
    Order order;
    order.reserve(keys.size());
    for (const Key& key : keys) order.push_back(key.waiting);
    return order;
}

std::optional<std::size_t> position_of(const Order& order, Ticket ticket) {
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i]->ticket == ticket) return i + 1;
    return std::nullopt;
}

}  // namespace cgpu::queue
