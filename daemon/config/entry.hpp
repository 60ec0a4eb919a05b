#pragma once

#include <string>
#include <vector>

namespace cgpu::config {

/// One value as it was written, with its origin: every layer is converted to these before anything is
/// checked.
struct Entry {
    /// `max_inst`; `weights`, `trainer`; `gpus`, `0`, `policy`.
    std::vector<std::string> path;
    std::string value;
    /// `/etc/cgpu/cgpud.yaml:12`, or `command line`.
    std::string origin;
};

/// Each is a complete message: `where: what: why. Try: ….`
using Problems = std::vector<std::string>;

[[nodiscard]] inline std::string problem(const std::string& origin, const std::string& what,
                                         const std::string& why, const std::string& remedy) {
    return origin + ": " + what + ": " + why + ". Try: " + remedy + ".";
}

}  // namespace cgpu::config
