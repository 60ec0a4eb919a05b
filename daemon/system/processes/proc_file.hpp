#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cgpu::system {

/// Some 40,000 mounts. A user with a user namespace can make the mounts of a process as many, and their paths
/// as long, as the kernel takes: hundreds of megabytes of text.
inline constexpr std::size_t kLongestText = std::size_t{8} << 20;

/// The text of a file of /proc, of which no more than this is taken. What lies there is the kernel's, so it
/// isn't asked what it is: thousands of them are read in a row. Error: the errno.
[[nodiscard]] tl::expected<std::string, int> read_text(const std::string& path,
                                                       std::size_t longest = kLongestText);

/// All processes that /proc shows. Error: the errno.
[[nodiscard]] tl::expected<std::vector<std::int32_t>, int> all_pids();

/// The id of the first mount that a process shows; empty if it has ended. Most processes share their mounts
/// with others, and such an id exists in one mount namespace only. The kernel generates no more of the text
/// than is read. Error: the errno.
[[nodiscard]] tl::expected<std::string, int> first_mount_of(std::int32_t pid);

/// Field `number` (3 or later) of the text of /proc/PID/stat, as a number. The second field is the program's
/// name in parentheses and may contain anything, also parentheses and spaces, so fields are counted after the
/// last ")".
[[nodiscard]] std::optional<std::uint64_t> field_in(std::string_view stat, int number);

}  // namespace cgpu::system
