#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "dbus/compat.hpp"

/// What GetUsage of org.cgpu1.Manager returns, for both sides of the bus. It has no variants: making and
/// reading those takes most of the time of such a call.
namespace cgpu::compat {

/// By name.
using Figures = std::map<std::string, std::uint64_t>;
/// Figures, shares (0..1), processes, memory of processes (pid, bytes), processes outside the module.
using UsageOnGpu =
    sdbus::Struct<Figures, std::map<std::string, double>, std::vector<std::uint32_t>,
                  std::vector<sdbus::Struct<std::uint32_t, std::uint64_t>>, std::vector<std::uint32_t>>;
/// Of GPUs by UUID; of instances by id and UUID.
using UsageOfNode =
    std::tuple<std::map<std::string, Figures>, std::map<std::string, std::map<std::string, UsageOnGpu>>>;

}  // namespace cgpu::compat
