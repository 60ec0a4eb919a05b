#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cgpu::cgpuctl {

/// A key of a TOML file with its strings: one, or those of a list. Values of other kinds have none.
struct TomlEntry {
    std::string table;  ///< `engine.runtimes`; empty: before the first table
    std::string key;
    std::vector<std::string> strings;

    friend bool operator==(const TomlEntry&, const TomlEntry&) = default;
};

/// The keys of a file as NVIDIA's toolkit and Podman write it: tables, and strings and lists of strings,
/// which may go over several lines. Lines that can't be read are left out.
[[nodiscard]] std::vector<TomlEntry> read_toml(std::string_view text);

}  // namespace cgpu::cgpuctl
