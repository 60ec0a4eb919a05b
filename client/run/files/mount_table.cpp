#include "client/run/files/mount_table.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace cgpu::client {
namespace {

/// The kernel writes blanks, line ends and backslashes as three octal digits after a backslash.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const char* const end = text.data() + i + 4;
        if (text[i] == '\\' && i + 4 <= text.size() &&
            std::from_chars(text.data() + i + 1, end, value, 8).ptr == end) {
            plain += static_cast<char>(value);
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

/// Removes and returns the next part of a text, with the separator. Only the separator ends a part: names may
/// contain other white space, which the kernel does not escape.
std::string_view take_until(std::string_view& text, char separator) {
    const auto end = text.find(separator);
    const auto part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return part;
}

std::optional<Mount> read_mount(std::string_view line) {
    // id, the parent's id, device, root, mount point, options, then fields up to a "-"
    const auto id = take_until(line, ' ');
    take_until(line, ' ');
    const auto device = take_until(line, ' ');
    const auto root = take_until(line, ' ');
    const auto point = take_until(line, ' ');
    const auto options = take_until(line, ' ');
    Mount mount;
    const auto read = std::from_chars(id.data(), id.data() + id.size(), mount.id);
    if (read.ec != std::errc{} || read.ptr != id.data() + id.size() || options.empty()) return std::nullopt;
    for (auto word = take_until(line, ' '); !word.empty() && word != "-"; word = take_until(line, ' ')) {
        mount.shared = mount.shared || word.starts_with("shared:");
        mount.slave = mount.slave || word.starts_with("master:");
    }
    mount.point = unescaped(point);
    mount.device = device;
    mount.root = unescaped(root);
    return mount;
}

}  // namespace

std::vector<Mount> read_mounts(std::string_view mountinfo) {
    std::vector<Mount> mounts;
    while (!mountinfo.empty())
        if (auto mount = read_mount(take_until(mountinfo, '\n'))) mounts.push_back(std::move(*mount));
    return mounts;
}

Result<std::vector<Mount>> read_mount_table(const Descriptor& table) {
    std::string text;
    std::array<char, 16384> part{};
    ssize_t got = table ? 0 : -1;  // the caller's open has set errno
    while (table && (got = read(table.get(), part.data(), part.size())) > 0)
        text.append(part.data(), static_cast<std::size_t>(got));
    if (got < 0)
        return fail(ClientError::Kind::failed, std::string("the table of mounts: it can't be read (") +
                                                   std::strerror(errno) +
                                                   "). Try: check whether /proc is mounted.");
    return read_mounts(text);
}

Result<std::vector<Mount>> read_mount_table(const std::string& path) {
    return read_mount_table(Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

Result<std::vector<Mount>> mounts_here() { return read_mount_table("/proc/self/mountinfo"); }

}  // namespace cgpu::client
