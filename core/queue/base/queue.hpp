#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/nanos.hpp"
#include "core/model/owner.hpp"
#include "core/model/refusal.hpp"
#include "core/request/request.hpp"

namespace cgpu::queue {

using model::Nanos;

/// Where a moment is that nothing is known of: after all others.
constexpr Nanos kNever = std::numeric_limits<Nanos>::max();

/// Names a waiting request for good: it grows with the time of asking, whatever the clock does, and none is
/// given twice.
using Ticket = std::uint64_t;

/// A request that waits for its part of a GPU.
struct Waiting {
    Ticket ticket = 0;
    model::Owner owner = {};
    request::Request request = {};                 ///< what admission plans with
    std::int32_t priority = 0;                     ///< whoever has more comes first
    Nanos asked_at = 0;                            ///< on a clock that doesn't jump, as the deadline
    std::optional<Nanos> deadline = std::nullopt;  ///< when it stops waiting; empty: never
    std::optional<Nanos> length = std::nullopt;    ///< its time limit; empty: nobody knows when it will end

    friend bool operator==(const Waiting&, const Waiting&) = default;
};

/// The requests that wait. Copies share each of them.
class Queue {
  public:
    using All = std::vector<std::shared_ptr<const Waiting>>;

    Queue() = default;
    /// A saved queue, in any order. Refused (invalid): a ticket twice, or one that would be given again.
    [[nodiscard]] static tl::expected<Queue, model::Refusal> restore(std::vector<Waiting> all, Ticket next);

    /// By ticket. order.hpp has the order in which they start.
    [[nodiscard]] const All& all() const { return all_; }
    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] bool empty() const { return all_.empty(); }
    /// The ticket of the next one that asks.
    [[nodiscard]] Ticket next() const { return next_; }
    /// Null: it doesn't wait. The pointer lives until it is removed from all copies.
    [[nodiscard]] const Waiting* find(Ticket ticket) const;

    /// Gives it its ticket.
    Ticket add(Waiting waiting);
    /// Null: it doesn't wait.
    std::shared_ptr<const Waiting> remove(Ticket ticket);

    /// Whose deadline has come, by ticket.
    [[nodiscard]] std::vector<Ticket> overdue(Nanos now) const;
    /// When the next deadline comes; empty: none does.
    [[nodiscard]] std::optional<Nanos> next_deadline() const;

    friend bool operator==(const Queue& one, const Queue& other);

  private:
    [[nodiscard]] All::const_iterator place(Ticket ticket) const;

    All all_;
    Ticket next_ = 1;
};

}  // namespace cgpu::queue
