#pragma once

#include <string_view>

#include "core/model/refusal.hpp"
#include "daemon/app/events/repeated_by_user.hpp"

namespace cgpu::app {

/// Instances and containers that were refused, as events. Any user may ask without pause, so they are told of
/// as rarely as RepeatedByUser says, by their name (or id, without a name).
class RefusedAdmissions {
  public:
    RefusedAdmissions(Loop& loop, Events& events) : repeated_(loop, events) {}

    /// `id`, `name`: as the caller gave them; a very long name is left out. A refusal that asks the caller to
    /// try again isn't told: the clients do that by themselves.
    void happened(std::string_view id, std::string_view name, const Who& who, const model::Refusal& refusal);

  private:
    RepeatedByUser repeated_;
};

}  // namespace cgpu::app
