#pragma once

#include <string>

namespace cgpu::client {

/// One value of cgpud's configuration, as GetConfiguration returns it.
struct ConfigurationValue {
    std::string key;     ///< nested keys are joined by dots: `weights.trainer`, `gpus.0.policy`
    std::string value;   ///< in force
    std::string source;  ///< `FILE:LINE`, `command line`, `built in`, `state` or `runtime`
    // What the files say, where that isn't in force; else empty.
    std::string configured;
    std::string configured_source;
    std::string remedy;  ///< the command that puts it in force
};

}  // namespace cgpu::client
