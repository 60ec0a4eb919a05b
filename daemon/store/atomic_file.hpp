#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cgpu::store {

/// Replaces a file by one with this content, readable by its owner only: written beside it, synced, renamed
/// over it, the folder synced. After a crash at any moment the old or the new file is there, whole. Error:
/// which step failed and the system's words for why; up to the last step, the sync of the folder, the old
/// file is as it was.
[[nodiscard]] tl::expected<void, std::string> replace_file(const std::filesystem::path& path,
                                                           std::string_view content);

/// Removes what a crash during replace_file() has left beside the file.
void remove_leftovers(const std::filesystem::path& path);

}  // namespace cgpu::store
