#include "daemon/system/processes/proc_file.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "files/descriptor.hpp"
#include "files/read.hpp"

namespace cgpu::system {

tl::expected<std::string, int> read_text(const std::string& path, std::size_t longest) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.fd() < 0) return tl::unexpected(errno);
    return files::read_up_to(file.fd(), longest);
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
    return read_text("/proc/" + std::to_string(pid) + "/mountinfo", 16).map([](const std::string& begin) {
        return begin.substr(0, begin.find(' '));
    });
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
