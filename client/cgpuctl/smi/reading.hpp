#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "client/cgpuctl/smi/view.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl::smi {

/// The clock that readings are taken by.
struct Clock {
    std::function<std::chrono::steady_clock::time_point()> now;
    std::function<void(std::chrono::steady_clock::time_point)> sleep_until;
    std::function<std::uint64_t()> seconds_since_1970;
};
[[nodiscard]] Clock system_clock();

/// A reading with its moment. The interval of the view is left to the caller, who has the reading before.
struct Reading {
    View view;
    std::chrono::steady_clock::time_point at;
};
[[nodiscard]] client::Result<Reading> take_reading(client::Node& node, const Clock& clock);

}  // namespace cgpu::cgpuctl::smi
