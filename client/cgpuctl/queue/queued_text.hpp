#pragma once

#include <cstdint>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// Everything about one request that waits, also as JSON.
void print_queued(const client::Queued& queued, const Input& input, Terminal& terminal);

/// `1h30m`, of nanoseconds.
[[nodiscard]] std::string span_text(std::uint64_t nanoseconds);

}  // namespace cgpu::cgpuctl
