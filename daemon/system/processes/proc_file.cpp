#include "daemon/system/processes/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace cgpu::system {
namespace {

/// Some 40,000 mounts. A user with a user namespace can make the mounts of a process as many, and their paths
/// as long, as the kernel takes: hundreds of megabytes of text.
constexpr std::size_t kLongestText = std::size_t{8} << 20;

}  // namespace

tl::expected<std::string, int> read_text(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tl::unexpected(errno);
    std::string text;
    std::array<char, 16384> part{};  // the kernel makes such texts anew for each read
    ssize_t got = 0;
    while (text.size() < kLongestText && (got = read(fd, part.data(), part.size())) > 0)
        text.append(part.data(), static_cast<std::size_t>(got));
    const int error = errno;
    close(fd);
    if (got < 0) return tl::unexpected(error);
    return text;
}

std::optional<std::uint64_t> field_in(std::string_view stat, int number) {
    auto at = stat.rfind(')');
    if (at == std::string_view::npos) return std::nullopt;
    // The ")" is followed by a space and field 3.
    for (int field = 3; field <= number; ++field) {
        at = stat.find(' ', at + 1);
        if (at == std::string_view::npos) return std::nullopt;
    }
    std::uint64_t value = 0;
    const auto* begin = stat.data() + at + 1;
    const auto [end, error] = std::from_chars(begin, stat.data() + stat.size(), value);
    if (error != std::errc{} || end == begin) return std::nullopt;
    return value;
}

}  // namespace cgpu::system
