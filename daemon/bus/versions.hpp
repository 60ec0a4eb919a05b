#pragma once

#include <string>

namespace cgpu::bus {

/// What the Manager says of itself.
struct Versions {
    std::string daemon;
    std::string module;  ///< empty where none is installed
};

}  // namespace cgpu::bus
