#pragma once

#include <optional>
#include <string>

#include "core/model/refusal.hpp"
#include "daemon/app/events/repeated_by_user.hpp"

namespace cgpu::app {

/// A call that would have changed something.
struct RefusedCall {
    std::string method;  ///< `SetPolicy`
    Who who;
    model::Refusal refusal;
    std::optional<model::InstanceId> instance = std::nullopt;  ///< whose method it is
    std::optional<model::Uuid> gpu = std::nullopt;             ///< the same
};

/// Calls that were denied (not_permitted), and changes that were refused for another reason, as events: by
/// user and method as rarely as RepeatedByUser says.
class RefusedCalls {
  public:
    RefusedCalls(Loop& loop, Events& events) : repeated_(loop, events) {}

    /// A refusal that asks the caller to try again isn't told: the clients do that by themselves.
    void happened(const RefusedCall& call);

  private:
    RepeatedByUser repeated_;
};

}  // namespace cgpu::app
