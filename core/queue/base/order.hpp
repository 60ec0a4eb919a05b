#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/model/owner.hpp"
#include "core/queue/base/queue.hpp"

namespace cgpu::queue {

/// GPU time that an owner had.
struct Use {
    model::Owner owner;
    Nanos gpu_time = 0;
    Nanos until = 0;  ///< when it had the last of it; on the clock of the caller's `now`
};

/// GPU time that each owner had lately, in nanoseconds. Who isn't in it had none.
using RecentUse = std::map<model::Owner, double>;

/// Adds up what the owners had. After each half-life it counts half as much.
[[nodiscard]] RecentUse recent_use(std::span<const Use> uses, Nanos now, Nanos half_life);

/// Pointers into the queue, which live as long as it isn't changed.
using Order = std::vector<const Waiting*>;

/// Who comes first: whoever has the higher priority; among those, where there is `fair`, whose owner had
/// least lately; then who has asked first. The same queue and figures have the same order, whenever it is
/// asked for.
[[nodiscard]] Order in_order(const Queue& queue, const RecentUse* fair = nullptr);

/// From 1; empty: it isn't in it.
[[nodiscard]] std::optional<std::size_t> position_of(const Order& order, Ticket ticket);

}  // namespace cgpu::queue
