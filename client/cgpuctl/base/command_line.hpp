#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "client/cgpuctl/base/verb.hpp"

namespace cgpu::cgpuctl {

/// A verb to run.
struct Call {
    const Verb* verb;
    std::unique_ptr<Input> input;         ///< the verb's own
    std::vector<std::string_view> given;  ///< the options that were given, in their longest spelling
};

/// Help or the version: only to be printed.
struct Print {
    std::string text;
};

/// Reads the arguments after the program's name by the table of verbs. Error: kind usage.
[[nodiscard]] Result<std::variant<Call, Print>> read_command_line(std::vector<std::string> arguments);

}  // namespace cgpu::cgpuctl
