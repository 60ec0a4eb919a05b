#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/model/owner.hpp"
#include "core/queue/base/queue.hpp"

namespace cgpu::queue {

/// GPU time that each owner had lately, in any unit (history::Recent). Who isn't in it had none.
using RecentUse = std::map<model::Owner, double>;

/// Pointers into the queue, which live as long as it isn't changed.
using Order = std::vector<const Waiting*>;

/// Who comes first: whoever has the higher priority; among those, where there is `fair`, whose owner had
/// least lately; then who has asked first. The same queue and figures have the same order, whenever it is
/// asked for.
[[nodiscard]] Order in_order(const Queue& queue, const RecentUse* fair = nullptr);

/// From 1; empty: it isn't in it.
[[nodiscard]] std::optional<std::size_t> position_of(const Order& order, Ticket ticket);

}  // namespace cgpu::queue
