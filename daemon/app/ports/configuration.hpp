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

/// One value of the configuration, and where it comes from.
struct ConfigurationValue {
    std::string key;    ///< as in the file, joined by dots: `slice_ms`, `weights.trainer`, `gpus.0.policy`
    std::string value;  ///< the value in force
    /// `FILE:LINE`, `command line`, `built in`, `state`: kept in state.json, or `runtime`: the same, until
    /// the reboot.
    std::string source;
    /// What the configuration files say, if that isn't in force; empty: it is.
    std::string configured;
    std::string configured_source;  ///< as `source`
    std::string remedy;             ///< the command that puts it in force

    friend bool operator==(const ConfigurationValue&, const ConfigurationValue&) = default;
};
using ConfigurationValues = std::vector<ConfigurationValue>;

}  // namespace cgpu::app
