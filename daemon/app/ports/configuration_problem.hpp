#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cgpu::app {

/// One reason why a changed configuration isn't in force: cgpud was told to read it again, refused it, and
/// keeps the former one.
struct ConfigurationProblem {
    std::string file;         ///< its path
    std::uint32_t line = 0;   ///< from 1; 0: it concerns the whole file
    std::string message;      ///< `where: what: why. Try: …`
    std::uint64_t since = 0;  ///< seconds since 1970: the first refusal after the last good configuration
};
using ConfigurationProblems = std::vector<ConfigurationProblem>;

}  // namespace cgpu::app
