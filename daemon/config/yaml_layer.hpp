#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// How many values all files together may have. Anybody may ask cgpud for all of them, at once.
inline constexpr std::size_t kMostEntries = 20'000;

/// Flattens a YAML text into entries in the order of the text. Text that is not YAML, or not a tree of names
/// with values at its leaves, is added to `problems`. An empty text has no entries. Of
/// a text with more than kMostEntries, one more than that is read.
[[nodiscard]] std::vector<Entry> read_yaml(const std::string& text, const std::string& file,
                                           Problems& problems);

}  // namespace cgpu::config
