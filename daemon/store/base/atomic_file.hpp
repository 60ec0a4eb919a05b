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

/// Replaces a file by one with this content, readable by its owner only: written beside it, synced, put in
/// its place, and the folder synced by `sync`. After a crash at any moment either the old or the new file is
/// there, complete. Error: the step that failed and the system's reason; the old file is unchanged.
///
/// The two files exchange their names, and the old one is kept as `.NAME.spare` for the next content: that
/// takes the disk little more than half the time of making a file and removing another, and needs no free
/// space. Therefore a reader that has the file open must read it again if it makes no sense: the second
/// replacement from then on writes into what it reads.
[[nodiscard]] tl::expected<Replaced, std::string> replace_file(const std::filesystem::path& path,
                                                               std::string_view content,
                                                               int (*sync)(int folder) = ::fsync);

/// What `path` was before the last replacement; it may be a former one, or not be there.
[[nodiscard]] std::filesystem::path spare_of(const std::filesystem::path& path);

/// Puts the spare file in the place of the file, which gets the name `aside`. At each moment one of them is
/// there. False: it can't be done; nothing was changed, or the spare file has the damaged one's name.
bool take_back_spare(const std::filesystem::path& path, const std::filesystem::path& aside);

/// Removes what a crash during replace_file() left beside the file, except for the spare file.
void remove_leftovers(const std::filesystem::path& path);

}  // namespace cgpu::store
