#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl::smi {

/// The clock that readings are taken by.
struct Clock {
    std::function<std::chrono::steady_clock::time_point()> now;
    std::function<void(std::chrono::steady_clock::time_point)> sleep_until;
    std::function<std::uint64_t()> seconds_since_1970;
};
[[nodiscard]] Clock system_clock();

/// cgpu-smi with these arguments. With --loop it returns only if the output can't be written, or after
/// --count readings. If the first reading fails, that is the error; a later failure (cgpud is being
/// restarted) is reported, and the next reading is taken.
[[nodiscard]] client::Result<void> run(const std::vector<std::string>& arguments, client::Node& node,
                                       Terminal& terminal, const Clock& clock);

}  // namespace cgpu::cgpuctl::smi
