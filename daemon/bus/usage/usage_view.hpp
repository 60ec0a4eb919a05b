#pragma once

#include <map>
#include <string>

#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/usage.hpp"
#include "daemon/bus/usage/usage_types.hpp"

/// Figures that change often, in the bus's types.
namespace cgpu::bus {

/// Of an instance on one GPU, for GetUsage of org.cgpu1.Instance.
[[nodiscard]] std::map<std::string, sdbus::Variant> figures_of(const app::InstanceUsage& usage);
[[nodiscard]] compat::Figures figures_of(const app::GpuUsage& usage);
/// `age`: of the figures, nanoseconds; it is told with those of each GPU, if it isn't 0.
[[nodiscard]] compat::UsageOfNode usage_of(const app::NodeUsage& usage, app::Nanos age);

}  // namespace cgpu::bus
