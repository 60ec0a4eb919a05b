#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/descriptor.hpp"

/// What a file may be that is taken for one of the driver's. Each of these calls may wait for the file's
/// server, such as a FUSE file system's.
namespace cgpu::link {

/// Why processes can't get it as a library; empty if they can: a regular file, opened for reading alone, that
/// the loader takes.
[[nodiscard]] std::optional<std::string> why_not_a_library(int fd);

/// Opens a file by its path on the host, if it is the one with this device and inode. An instance has named
/// the path, so it is opened for reading only when it is known to be that file: opening a fifo or a device
/// has side effects. Empty: it isn't.
[[nodiscard]] Descriptor open_on_host(const std::string& path, std::uint64_t device, std::uint64_t inode);

/// Why cgpud doesn't keep a file of a user who isn't root, however much of it has been read: whoever serves
/// its file system can stop answering later, also when it is closed. Otherwise empty: it is a file of the
/// host, and `file` is it, opened anew by its path there; or a copy in memory that nobody can change.
[[nodiscard]] std::optional<std::string> why_not_kept(Descriptor& file, const std::string& path);

}  // namespace cgpu::link
