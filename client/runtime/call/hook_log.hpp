#pragma once

#include <string>
#include <vector>

#include "client/runtime/call/invocation.hpp"

namespace cgpu::runtime {

/// The log of the runtime that calls a hook, from which engines take what they tell their users.
struct HookLog {
    std::string file;  ///< empty if there is none
    bool as_json = false;
};

/// How a hook of the container that is being created is told of that log: as its last argument. Empty if
/// the runtime was called without a log.
[[nodiscard]] std::string hook_log_argument(const Invocation& invocation);

/// Removes that argument from those of a hook, if it is there.
[[nodiscard]] HookLog take_hook_log(std::vector<std::string>& arguments);

/// For a hook that wasn't told: the log of the runtime from which this process descends, as the command line
/// of that one has it. Empty if there is no such runtime, or no such log.
[[nodiscard]] HookLog log_of_calling_runtime(const std::string& proc = "/proc");

}  // namespace cgpu::runtime
