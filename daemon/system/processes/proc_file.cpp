#include "daemon/system/processes/proc_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

namespace cgpu::system {

tl::expected<std::string, int> read_text(const std::string& path, std::size_t longest) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tl::unexpected(errno);
    std::string text;
    std::array<char, 16384> part{};  // the kernel makes such texts anew for each read
    ssize_t got = 0;
    while (text.size() < longest && (got = read(fd, part.data(), part.size())) > 0)
        text.append(part.data(), static_cast<std::size_t>(got));
    const int error = errno;
    close(fd);
    if (got < 0) return tl::unexpected(error);
    return text;
}

tl::expected<std::vector<std::int32_t>, int> all_pids() {
    const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
    if (!proc) return tl::unexpected(errno);
    std::vector<std::int32_t> pids;
    while (const auto* entry = readdir(proc.get())) {
        const std::string_view name(entry->d_name);
        std::int32_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
    }
    return pids;
}

tl::expected<std::string, int> first_mount_of(std::int32_t pid) {
    const int fd = open(("/proc/" + std::to_string(pid) + "/mountinfo").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tl::unexpected(errno);
    std::array<char, 16> begin{};
    const auto got = read(fd, begin.data(), begin.size());
    close(fd);
    const std::string_view text(begin.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(text.substr(0, text.find(' ')));
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
