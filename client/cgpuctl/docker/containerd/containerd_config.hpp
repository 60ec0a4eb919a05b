#pragma once

#include <string>

#include "client/node/values/client_error.hpp"

/// containerd's config.toml, in which cgpu has a table of its own. It must be in the file itself: of a file
/// that this one imports, a containerd before 2.0 takes the whole section of the plugin, and drops the other.
namespace cgpu::cgpuctl {

/// The text with the runtime `cgpu` (`program`) for the CRI plugin, instead of a former one; all other lines
/// stay. If the file has no runtimes, it gets containerd's own (`runc`), too, because the first one in the
/// file replaces those that are built in. Error (refused): the CRI plugin is disabled, the file isn't of
/// version 2 or 3, its runtimes are written without tables, or it ends within a value.
[[nodiscard]] client::Result<std::string> with_containerd_runtime(const std::string& text,
                                                                  const std::string& program);

/// Whether what `containerd config dump` prints has the runtime: of the file with all that it imports. Error
/// (refused): it hasn't, or the CRI plugin is disabled.
[[nodiscard]] client::Result<void> check_containerd_dump(const std::string& dump, const std::string& program);

/// The text without what the other function has added; empty if nothing else is left that somebody wrote.
[[nodiscard]] std::string without_containerd_runtime(const std::string& text);

/// Whether the file names others to be imported, whose sections may replace those of this one.
[[nodiscard]] bool imports_files(const std::string& text);

/// The text as without_containerd_runtime writes one in which nothing is to be removed.
[[nodiscard]] std::string without_changes(const std::string& text);

}  // namespace cgpu::cgpuctl
