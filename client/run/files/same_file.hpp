#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/run/files/mount_table.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {

/// Which file it is, whatever it is called.
struct FileId {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    friend bool operator==(const FileId&, const FileId&) = default;
};

/// Empty: it is no regular file, or can't be looked at.
[[nodiscard]] std::optional<FileId> id_of_file(const Descriptor& file);

/// The mount that an open file was found on (Mount::id); empty if the kernel doesn't say.
[[nodiscard]] std::optional<std::uint64_t> mount_of_file(const Descriptor& file);

/// The other paths at which mounts show the file that is at `path` on the mount of this id: those of the same
/// file system whose root is the file or a folder above it. Paths are as in the mount table. What the mount
/// table says of a path is no proof: another mount may lie over it, so the caller compares FileId.
[[nodiscard]] std::vector<std::string> other_places(const std::vector<Mount>& mounts, std::uint64_t mount,
                                                    const std::string& path);

/// Whether the uppermost mount at `shown`, a path of the mount table, shows there what is at `path` on the
/// mount of this id. Such a path can be walked without leaving the mounts that are there: nothing is mounted
/// by the walk, as by autofs.
[[nodiscard]] bool is_shown_at(const std::vector<Mount>& mounts, std::uint64_t mount, const std::string& path,
                               const std::string& shown);

}  // namespace cgpu::client
