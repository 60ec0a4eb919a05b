#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The tables of a TOML file by its lines, for edits that leave all other lines as they are.
namespace cgpu::cgpuctl {

/// The parts of a dotted name: `plugins."a.b".c` has three.
using TomlPath = std::vector<std::string>;

struct TomlLine {
    std::string text;  ///< without the line break
    TomlPath table;    ///< that it belongs to; of a header: that which begins
    bool is_header = false;
    /// Of a line `KEY = VALUE`: the table's name and the key's; else empty.
    TomlPath key;
    std::string value;  ///< as it is written, up to a comment or the end of the line
};

/// All lines, in their order. A value that goes over several lines belongs to the line with its key.
[[nodiscard]] std::vector<TomlLine> toml_lines(std::string_view text);

/// Whether the one begins with the other.
[[nodiscard]] bool starts_with(const TomlPath& path, const TomlPath& start);

}  // namespace cgpu::cgpuctl
