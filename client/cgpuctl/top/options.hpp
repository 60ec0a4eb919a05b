#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

struct TopInput : Input {
    std::string delay;
    std::string count;
    bool batch = false;
    bool yes = false;
};

}  // namespace cgpu::cgpuctl

namespace cgpu::cgpuctl::top {

/// What cgpuctl top is asked for.
struct Options {
    std::chrono::milliseconds delay{1000};
    std::optional<std::uint32_t> count;  ///< readings until the end; empty: no end
    bool batch = false;
    bool sure = false;  ///< changes are made without a question
    bool local = true;  ///< the node is this machine, so its users have the names that are known here
};

/// Error: kind usage.
[[nodiscard]] client::Result<Options> read_options(const TopInput& input);

}  // namespace cgpu::cgpuctl::top
