#pragma once

#include <optional>
#include <string>

#include "client/run/files/root.hpp"

namespace cgpu::client {

/// The first file or folder on the way to `path` (and the one at its end) that others than root can write
/// to: one that doesn't belong to root, or that its group or all may write to, a sticky folder among them.
/// Symbolic links are followed, and the folders on their ways count, too. Empty: root alone decides what is
/// at that path. Something that is missing or can't be looked at counts as writable by others. Nothing
/// behind what was found is touched.
[[nodiscard]] std::optional<std::string> writable_by_others(const Root& root, const std::string& path);

}  // namespace cgpu::client
