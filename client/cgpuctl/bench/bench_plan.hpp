#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/node/values/client_error.hpp"
#include "core/model/nanos.hpp"

namespace cgpu::cgpuctl {

struct BenchInput : Input {
    std::string gpu;
    std::string weights;
    std::string seconds;
    std::string kernel_us;
    std::string memory;
    bool force = false;
};

/// What `cgpuctl bench` runs.
struct BenchPlan {
    std::vector<std::uint32_t> weights;  ///< one for each program
    model::Nanos window = 0;             ///< how long to measure
    std::uint32_t kernel_us = 0;         ///< work of a kernel, microseconds of a GPU at 2 GHz
    std::string memory;                  ///< the limit of each, as `cgpuctl run --mem` takes it
};

/// Reads the options; the defaults are 1:2, 10 s, 1000 us and 1GiB. Error (usage): a value that can't be
/// read, or is out of range.
[[nodiscard]] client::Result<BenchPlan> read_bench_plan(const BenchInput& input);

}  // namespace cgpu::cgpuctl
