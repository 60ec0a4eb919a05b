#pragma once

#include <string>

#include "client/cgpuctl/input.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

/// What set-memory, set-weight and set-priority have in common.
namespace cgpu::cgpuctl {

/// How the command line wants a figure of an instance to be set.
[[nodiscard]] client::Setting setting_of(const Input& input);

/// Says that a figure was set, and for how long: until the instance ends, or for the next starts of
/// `kept_for` too, where that isn't empty. With --json as an object: `key` with `value`, and what else is so.
void say_set(const Input& input, const std::string& figure, const char* key, const Json& value,
             const std::string& kept_for, Terminal& terminal);

}  // namespace cgpu::cgpuctl
