#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cgpu::files {

/// A line of a /proc/PID/mountinfo (proc(5)), as the kernel writes it: paths are escaped.
struct MountLine {
    std::string_view id;
    std::string_view parent;   ///< the id of the mount that it is on
    std::string_view device;   ///< MAJOR:MINOR of the file system
    std::string_view root;     ///< the path within the file system that is shown
    std::string_view point;    ///< where, as the process sees it
    std::string_view options;  ///< of the mount
    std::string_view rest;     ///< optional fields (`shared:1`) up to a "-", then the file system
};

/// Removes the lines of a text up to the next one that is a mount's, and returns that; nothing: there is
/// none. Of a text that was cut off, the last one may have a shorter root, or lack the fields after it.
[[nodiscard]] std::optional<MountLine> take_mount(std::string_view& mountinfo);

/// Removes and returns the next part of a text, with the separator. Only the separator ends a part: names may
/// contain other white space, which the kernel does not escape.
std::string_view take_until(std::string_view& text, char separator);

/// A path of such a line as it is: the kernel writes blanks, line ends and backslashes as three octal digits
/// after a backslash.
[[nodiscard]] std::string unescaped(std::string_view text);

}  // namespace cgpu::files
