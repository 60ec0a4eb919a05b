#include "client/run/files/mount_table.hpp"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "files/mount_line.hpp"
#include "files/read.hpp"

namespace cgpu::client {
namespace {

/// A user with a user namespace can make the mounts of a process as many as the kernel takes: a table that
/// long isn't read.
constexpr std::size_t kLongestTable = std::size_t{512} << 20;

std::optional<Mount> read_mount(const files::MountLine& line) {
    Mount mount;
    const auto* const end = line.id.data() + line.id.size();
    const auto read = std::from_chars(line.id.data(), end, mount.id);
    if (read.ec != std::errc{} || read.ptr != end || line.options.empty()) return std::nullopt;
    auto rest = line.rest;
    for (auto word = files::take_until(rest, ' '); !word.empty() && word != "-";
         word = files::take_until(rest, ' ')) {
        mount.shared = mount.shared || word.starts_with("shared:");
        mount.slave = mount.slave || word.starts_with("master:");
    }
    mount.point = files::unescaped(line.point);
    mount.device = line.device;
    mount.root = files::unescaped(line.root);
    return mount;
}

}  // namespace

std::vector<Mount> read_mounts(std::string_view mountinfo) {
    std::vector<Mount> mounts;
    while (const auto line = files::take_mount(mountinfo))
        if (auto mount = read_mount(*line)) mounts.push_back(std::move(*mount));
    return mounts;
}

Result<std::vector<Mount>> read_mount_table(const Descriptor& table) {
    const int error = errno;  // of the caller's open
    auto text = table ? files::read_up_to(table.fd(), kLongestTable) : tl::unexpected(error);
    if (text && text->size() == kLongestTable) text = tl::unexpected(EFBIG);
    if (!text)
        return fail(ClientError::Kind::failed, std::string("the table of mounts: it can't be read (") +
                                                   std::strerror(text.error()) +
                                                   "). Try: check whether /proc is mounted.");
    return read_mounts(*text);
}

Result<std::vector<Mount>> read_mount_table(const std::string& path) {
    return read_mount_table(Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

Result<std::vector<Mount>> mounts_here() { return read_mount_table("/proc/self/mountinfo"); }

}  // namespace cgpu::client
