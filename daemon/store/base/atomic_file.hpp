#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cgpu::store {

enum class Replaced {
    durably,
    until_power_fails,  ///< the folder couldn't be synced: a power failure soon after may bring the old file
                        ///< back
};

/// Replaces a file by one with this content, readable by its owner only: written beside it, synced, renamed
/// over it, and the folder synced by `sync`. After a crash at any moment either the old or the new file is
/// there, complete. Error: the step that failed and the system's reason; the old file is unchanged.
[[nodiscard]] tl::expected<Replaced, std::string> replace_file(const std::filesystem::path& path,
                                                               std::string_view content,
                                                               int (*sync)(int folder) = ::fsync);

/// Removes what a crash during replace_file() left beside the file.
void remove_leftovers(const std::filesystem::path& path);

}  // namespace cgpu::store
