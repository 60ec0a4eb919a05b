#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cgpu::config {

/// Where something was written.
struct Origin {
    std::string file;        ///< its path, or `command line`
    std::uint32_t line = 0;  ///< from 1; 0: it concerns the whole file

    /// `/etc/cgpu/cgpud.yaml:12`, or the file alone.
    [[nodiscard]] std::string text() const { return line == 0 ? file : file + ":" + std::to_string(line); }
};

/// One value as it was written, with its origin: every layer is converted to these before anything is
/// checked.
struct Entry {
    /// `max_inst`; `weights`, `trainer`; `gpus`, `0`, `policy`.
    std::vector<std::string> path;
    std::string value;
    Origin origin;
    bool is_empty = false;  ///< nothing stands behind the key, or `{}`: a group without keys, or no value
};

struct Problem {
    Origin origin;
    std::string text;  ///< the complete message: `where: what: why. Try: ….`
};
using Problems = std::vector<Problem>;

[[nodiscard]] inline Problem problem(const Origin& origin, const std::string& what, const std::string& why,
                                     const std::string& remedy) {
    return {origin, origin.text() + ": " + what + ": " + why + ". Try: " + remedy + "."};
}

/// Of a key that is no group.
constexpr const char* kNoValue = "it has no value";
constexpr const char* kNoValueRemedy = "put a value after the colon, or remove the line";

}  // namespace cgpu::config
