#include "daemon/system/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace cgpu::system {

tl::expected<std::string, int> read_text(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tl::unexpected(errno);
    std::string text;
    std::array<char, 1024> part{};
    ssize_t got = 0;
    while ((got = read(fd, part.data(), part.size())) > 0)
        text.append(part.data(), static_cast<std::size_t>(got));
    const int error = errno;
    close(fd);
    if (got < 0) return tl::unexpected(error);
    return text;
}

}  // namespace cgpu::system
