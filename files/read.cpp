#include "files/read.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace cgpu::files {
namespace {

const char* name_of(mode_t kind) {
    switch (kind) {
        case S_IFDIR:
            return "a folder";
        case S_IFIFO:
            return "a pipe";
        case S_IFSOCK:
            return "a socket";
        default:
            return "a device";
    }
}

}  // namespace

bool Unread::is_missing() const { return error == ENOENT && kind == 0; }

std::string Unread::why() const {
    if (kind == S_IFLNK)
        return error == ENOENT ? "it is a symbolic link that leads nowhere" : "it is a symbolic link";
    if (kind != 0) return std::string("it is ") + name_of(kind) + ", not a file";
    if (error == EFBIG) return "it is longer than " + std::to_string(most >> 20) + "MiB";
    return std::generic_category().message(error);
}

tl::expected<std::string, int> read_up_to(int fd, std::size_t most) {
    std::string text;
    std::array<char, 16384> part{};  // the kernel makes some texts anew for each read
    while (text.size() < most) {
        const ssize_t got = ::read(fd, part.data(), std::min(part.size(), most - text.size()));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tl::unexpected(errno);
        if (got == 0) break;
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
}

tl::expected<std::vector<std::byte>, int> content_of(int fd, std::uint64_t most) {
    struct stat its {};
    if (::fstat(fd, &its) != 0) return tl::unexpected(errno);
    if (static_cast<std::uint64_t>(its.st_size) > most) return tl::unexpected(EFBIG);
    std::vector<std::byte> content(static_cast<std::size_t>(its.st_size));
    std::size_t had = 0;
    while (had < content.size()) {
        const ssize_t got = ::pread(fd, content.data() + had, content.size() - had, static_cast<off_t>(had));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tl::unexpected(errno);
        if (got == 0) break;
        had += static_cast<std::size_t>(got);
    }
    content.resize(had);
    return content;
}

tl::expected<Descriptor, Unread> open_regular(const std::string& path, int flags, mode_t mode) {
    struct stat its {};
    const bool follows = (flags & O_NOFOLLOW) == 0;
    if ((follows ? ::stat(path.c_str(), &its) : ::lstat(path.c_str(), &its)) != 0) {
        const int error = errno;
        const bool is_link = error == ENOENT && ::lstat(path.c_str(), &its) == 0 && S_ISLNK(its.st_mode);
        if (error != ENOENT || is_link || (flags & O_CREAT) == 0)
            return tl::unexpected(Unread{error, is_link ? mode_t{S_IFLNK} : 0U});
        its.st_mode = S_IFREG;
    }
    Descriptor file;
    if (S_ISREG(its.st_mode)) {
        // It may be another one by now, and a lease of another process would have to be waited for.
        file = Descriptor(::open(path.c_str(), O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, mode));
        if (!file || ::fstat(file.fd(), &its) != 0) return tl::unexpected(Unread{errno});
    }
    if (!S_ISREG(its.st_mode))
        return tl::unexpected(Unread{S_ISDIR(its.st_mode) ? EISDIR : EINVAL, its.st_mode & S_IFMT});
    return file;
}

tl::expected<std::optional<std::string>, Unread> read_whole(const std::string& path, std::size_t most,
                                                            int flags) {
    const auto file = open_regular(path, flags);
    if (!file && file.error().is_missing()) return std::nullopt;
    if (!file) return tl::unexpected(file.error());
    const Unread too_long{EFBIG, 0, most};
    struct stat its {};
    // A large file is not read in order to learn that.
    if (::fstat(file->fd(), &its) == 0 && static_cast<std::uint64_t>(its.st_size) > most)
        return tl::unexpected(too_long);
    auto text = read_up_to(file->fd(), most + 1);
    if (!text) return tl::unexpected(Unread{text.error()});
    if (text->size() > most) return tl::unexpected(too_long);
    return std::optional(std::move(*text));
}

tl::expected<std::string, Unread> read_text(const std::string& path, std::size_t most) {
    const auto file = open_regular(path);
    if (!file) return tl::unexpected(file.error());
    return read_up_to(file->fd(), most).map_error([](int error) { return Unread{error}; });
}

tl::expected<void, Unread> write_text(const std::string& path, std::string_view text) {
    auto file = open_regular(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!file) return tl::unexpected(file.error());
    while (!text.empty()) {
        const ssize_t written = ::write(file->fd(), text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return tl::unexpected(Unread{errno});
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (!file->close()) return tl::unexpected(Unread{errno});
    return {};
}

}  // namespace cgpu::files
