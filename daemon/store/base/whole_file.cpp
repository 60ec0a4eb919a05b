#include "daemon/store/base/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace cgpu::store {

tl::expected<std::optional<std::string>, std::error_code> whole_file(const std::filesystem::path& path,
                                                                     int flags) {
    const auto failure = [](int error) {
        return tl::unexpected(std::error_code(error, std::generic_category()));
    };
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0 && errno == ENOENT) return std::nullopt;
    if (fd < 0) return failure(errno);
    struct stat its {};
    int error = ::fstat(fd, &its) == 0 ? 0 : errno;
    if (error == 0 && !S_ISREG(its.st_mode)) error = S_ISDIR(its.st_mode) ? EISDIR : EINVAL;
    std::string content;
    std::array<char, 16384> buffer{};
    while (error == 0) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) error = errno;
        if (got <= 0) break;
        content.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(fd);
    if (error != 0) return failure(error);
    return content;
}

}  // namespace cgpu::store
