#pragma once

#include "daemon/app/instances/service.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/usage/shared_usage.hpp"

namespace cgpu::bus {

/// What GetUsage answers whom: root the figures of now, everybody else those that all share.
class CallerUsage {
  public:
    /// The arguments outlive this object.
    CallerUsage(Authority& authority, const app::Service& service, const app::Loop& loop)
        : authority_(authority),
          service_(service),
          loop_(loop),
          shared_(loop, [&service] { return service.usage(); }) {}

    /// `object`: the one that handles the call now. Each throws sdbus::Error if the caller is gone.
    [[nodiscard]] bool is_root(const sdbus::IObject& object) { return authority_.caller_of(object).uid == 0; }

    struct Node {
        app::NodeUsage usage;
        app::Nanos age = 0;
    };
    [[nodiscard]] Node of_node(const sdbus::IObject& object);

    [[nodiscard]] app::Nanos now() const { return loop_.now(); }

  private:
    Authority& authority_;
    const app::Service& service_;
    const app::Loop& loop_;
    SharedUsage shared_;
};

}  // namespace cgpu::bus
