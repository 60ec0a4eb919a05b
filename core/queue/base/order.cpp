#include "core/queue/base/order.hpp"

#include <algorithm>

namespace cgpu::queue {

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
