#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "core/limits/allowance.hpp"
#include "core/queue/base/queue.hpp"

namespace cgpu::queue {

/// What an owner may still get of a node; empty: no rule concerns it. Refused: nobody knows which rules hold;
/// try_again: it is being found out.
using AllowanceOf = std::function<tl::expected<std::optional<limits::Allowance>, model::Refusal>(
    const model::Node& node, const model::Owner& owner)>;

/// What the owners of waiting requests may still get while one after another is decided upon. The node
/// outlives it.
class Owners {
  public:
    /// Of one holder, which several owners may be: a user, and whoever declares that name.
    struct One {
        limits::Allowance allowance;
        std::uint64_t changes = 0;
        /// The first of its requests to which the limits object, and what they say.
        std::optional<std::pair<Ticket, model::Objection>> held_back = std::nullopt;
    };

    Owners(const model::Node& node, const AllowanceOf& allowance_of)
        : node_(node), allowance_of_(allowance_of) {}

    /// Null: it may have as much as there is. The pointer lives as long as this object.
    [[nodiscard]] tl::expected<One*, model::Refusal> of(const model::Owner& owner);

    /// It gets these. Null is allowed, as below.
    static void started(One* owner, const Waiting& waiting, const std::vector<model::Quota>& quotas);
    /// It waits for these: those of the owner behind it don't get what its owner may have. `there`: on these
    /// very GPUs; otherwise on any.
    static void keep_back(One* owner, std::vector<model::Quota> quotas, bool there);

  private:
    const model::Node& node_;
    const AllowanceOf& allowance_of_;
    std::list<One> all_;
    std::map<model::Owner, tl::expected<One*, model::Refusal>> known_;
};

}  // namespace cgpu::queue
