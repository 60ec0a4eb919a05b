#pragma once

#include <cstddef>
#include <string>

#include "client/run/files/root.hpp"

namespace cgpu::client {

/// Opens for reading what was found with O_PATH, if it is a regular file of a file system that stores files.
/// Those of the kernel's own (/proc, /sys, tracing) are regular files, too, but reading one can wait for
/// ever, take messages away from others, or move a device; a user or an image may have put a link there. It
/// doesn't wait for the holder of a lease either (fcntl(2)): EWOULDBLOCK. Empty, with errno: it isn't opened.
[[nodiscard]] Descriptor open_stored(const Descriptor& there);

/// The text of such a file, truncated at `limit` bytes; empty if it can't be read.
[[nodiscard]] std::string stored_text_of(const Root& root, const std::string& path, std::size_t limit);

}  // namespace cgpu::client
