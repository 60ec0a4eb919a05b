#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/model/node.hpp"

namespace cgpu::model {

/// The instances on each GPU of a node, found in one pass over all instances. For those who ask about every
/// GPU: the node's own answers, which these are, go over all instances each time. The node outlives this
/// object, and doesn't change meanwhile.
class Occupancy {
  public:
    // NOLINTNEXTLINE(google-explicit-constructor): it is the node, seen in another order
    Occupancy(const Node& node);

    [[nodiscard]] const Node& node() const { return node_; }
    /// By id.
    [[nodiscard]] const std::vector<Occupant>& on(const Uuid& gpu) const;

    [[nodiscard]] Bytes allocated(const Uuid& gpu) const;
    [[nodiscard]] std::uint32_t free_weight(const Gpu& gpu) const;
    [[nodiscard]] Mode mode_in_force(const Gpu& gpu) const;
    [[nodiscard]] Policy policy_in_force(const Gpu& gpu) const;

  private:
    const Node& node_;
    std::map<Uuid, std::vector<Occupant>> on_gpus_;
};

/// The GPUs of which Occupancy may answer otherwise than before: they, or instances on them, have come, gone
/// or changed.
[[nodiscard]] std::set<Uuid> changed_gpus(const Node& before, const Node& now);

}  // namespace cgpu::model
