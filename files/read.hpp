#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "files/descriptor.hpp"

/// The content of files. Each is opened without waiting for anybody (a pipe has another end, a device may do
/// something), and read with a bound: what lies at a path may have been put there by somebody else.
namespace cgpu::files {

/// The rest of what a descriptor has, from where it stands, but no more than `most` bytes. Error: the errno.
[[nodiscard]] tl::expected<std::string, int> read_up_to(int fd, std::size_t most);

/// The content of an open regular file, from its beginning, wherever the descriptor stands. Error: the errno;
/// EFBIG if it has more than `most` bytes.
[[nodiscard]] tl::expected<std::vector<std::byte>, int> content_of(int fd, std::uint64_t most = UINT64_MAX);

/// Why a file can't be read.
struct Unread {
    int error = 0;         ///< an errno; EISDIR, EINVAL: it is a folder, no file; EFBIG: too long
    mode_t kind = 0;       ///< of what is there instead of a regular file (S_IFMT); 0: it isn't that
    std::size_t most = 0;  ///< how long it may be

    /// What is there can't be mended by rights: it must be replaced.
    [[nodiscard]] bool is_no_file() const { return kind != 0; }
    [[nodiscard]] bool is_missing() const;
    /// As a part of a sentence: the system's reason, "it is a pipe, not a file", "it is longer than 64MiB".
    [[nodiscard]] std::string why() const;
};

[[nodiscard]] inline int error_of(const Unread& unread) { return unread.error; }

/// A regular file, open for reading, or for what `flags` of open(2) say; `mode`: of one that O_CREAT makes.
/// Nothing else is opened: a device may do something then. A symbolic link that leads nowhere is no missing
/// file.
[[nodiscard]] tl::expected<Descriptor, Unread> open_regular(const std::string& path, int flags = 0,
                                                            mode_t mode = 0600);

/// The content of a regular file; empty if there is none.
[[nodiscard]] tl::expected<std::optional<std::string>, Unread> read_whole(const std::string& path,
                                                                          std::size_t most, int flags = 0);

/// The beginning of a regular file, also of one that the kernel makes when it is read (/proc, /sys), and
/// which it says is empty.
[[nodiscard]] tl::expected<std::string, Unread> read_text(const std::string& path, std::size_t most);

/// Writes a regular file in place, which is made if there is none. For texts that nobody reads meanwhile.
[[nodiscard]] tl::expected<void, Unread> write_text(const std::string& path, std::string_view text);

}  // namespace cgpu::files
