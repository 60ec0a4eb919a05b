#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "dbus/compat.hpp"

/// What GetUsage of org.cgpu1.Manager returns. It has no variants: making and
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

/// A figure of an instance's launches that had to wait: how many waited no longer than `most_ns`, and longer
/// than the entry before says. If it is 0, it is missing.
struct WaitFigure {
    const char* name;
    std::int64_t most_ns;
};
constexpr std::array<WaitFigure, 14> kWaitFigures = {{{"waits-10us", 10'000},
                                                      {"waits-30us", 30'000},
                                                      {"waits-100us", 100'000},
                                                      {"waits-300us", 300'000},
                                                      {"waits-1ms", 1'000'000},
                                                      {"waits-3ms", 3'000'000},
                                                      {"waits-10ms", 10'000'000},
                                                      {"waits-30ms", 30'000'000},
                                                      {"waits-100ms", 100'000'000},
                                                      {"waits-300ms", 300'000'000},
                                                      {"waits-1s", 1'000'000'000},
                                                      {"waits-3s", 3'000'000'000},
                                                      {"waits-10s", 10'000'000'000},
                                                      {"waits-longer", INT64_MAX}}};
/// Nanoseconds, of all these waits.
constexpr const char* kWaitTimeFigure = "waits-time";
/// Nanoseconds since the figures were read, with those of GPUs; missing: they are of now.
constexpr const char* kAgeFigure = "age";

}  // namespace cgpu::compat
