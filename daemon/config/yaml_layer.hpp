#pragma once

#include <string>
#include <vector>

#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Flattens a YAML text into entries in the order of the text. Text that is not YAML, or not a tree of names
/// with values at its leaves, is added to `problems`. An empty text has no entries.
[[nodiscard]] std::vector<Entry> read_yaml(const std::string& text, const std::string& file,
                                           Problems& problems);

}  // namespace cgpu::config
