#pragma once

#include <optional>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/events/event.hpp"

namespace cgpu::app {

/// The settings that differ between two states of the node, an event for each: of GPUs, of instances that are
/// in both, and those that are kept for the next starts of a name. Details: `setting` (policy, max-inst,
/// prio-ratio, mode; memory-limit, weight, priority; kept), `before` and `after`, as cgpuctl takes and shows
/// them. `kept`: settings of instances don't end with them.
[[nodiscard]] std::vector<Event> setting_events(const model::Node& before, const model::Node& now,
                                                const std::optional<Who>& by, bool kept);

}  // namespace cgpu::app
