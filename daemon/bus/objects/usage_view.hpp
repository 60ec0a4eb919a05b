#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/app/ports/usage.hpp"
#include "dbus/compat.hpp"

/// Figures that change often, in the bus's types. What GetUsage of org.cgpu1.Manager returns has no variants:
/// making and reading those takes most of the time of such a call.
namespace cgpu::bus {

/// Of an instance on one GPU, for GetUsage of org.cgpu1.Instance.
[[nodiscard]] std::map<std::string, sdbus::Variant> figures_of(const app::InstanceUsage& usage);

/// By name.
using Figures = std::map<std::string, std::uint64_t>;
/// Figures, shares (0..1), processes, memory of processes (pid, bytes), processes outside the module.
using UsageOnGpu =
    sdbus::Struct<Figures, std::map<std::string, double>, std::vector<std::uint32_t>,
                  std::vector<sdbus::Struct<std::uint32_t, std::uint64_t>>, std::vector<std::uint32_t>>;
/// By UUID; and by id and UUID.
using UsageOfNode =
    std::tuple<std::map<std::string, Figures>, std::map<std::string, std::map<std::string, UsageOnGpu>>>;

[[nodiscard]] Figures figures_of(const app::GpuUsage& usage);
[[nodiscard]] UsageOfNode usage_of(const app::NodeUsage& usage);

}  // namespace cgpu::bus
