#include "bundle/root_owned_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/model/quote.hpp"
#include "files/read.hpp"

namespace cgpu::bundle {
namespace {

using model::Refusal;
using model::refuse;
using Reason = Refusal::Reason;

constexpr const char* kListed = "cgpuctl module list";
constexpr const char* kUnreadable = "look at it as root; the disk may be at fault";

/// The path in a form that is safe in a message.
std::string shown(const std::string& path) {
    const bool plain = std::all_of(path.begin(), path.end(),
                                   [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
    return plain ? path : model::quote(path);
}

tl::unexpected<Refusal> not_opened(const std::string& path, int error, const char* where_it_is = kListed) {
    switch (error) {
        case ENOENT:
            return refuse(Reason::not_found, shown(path), "it is not there", where_it_is);
        case ELOOP:
        case ENOTDIR:
            return refuse(Reason::not_permitted, shown(path), "it is a symbolic link or no folder",
                          "name the real folder, or put the files themselves there");
        case EACCES:
            return refuse(Reason::not_permitted, shown(path), "this user may not read it", "run it as root");
        default:
            return refuse(Reason::storage, shown(path),
                          "it can't be opened: " + std::generic_category().message(error), kUnreadable);
    }
}

/// The remedy for a file that others could have changed. A folder above it may be a user's home.
std::string remedy(const char* command, const std::string& path, bool above) {
    if (above) return "put it, as root, below a folder that is root's alone";
    return std::string(command) + " " + shown(path) + ", if you trust what is in it";
}

const char* name_of(mode_t kind) { return kind == S_IFDIR ? "folder" : "regular file"; }

}  // namespace

std::optional<Refusal> RootOwnedFile::why_not_roots(mode_t kind, bool above) const {
    struct stat info {};
    if (fstat(fd_.fd(), &info) != 0) return not_opened(path_, errno).value();
    if ((info.st_mode & S_IFMT) != kind)
        return model::make_refusal(Reason::not_permitted, shown(path_),
                                   std::string("it is no ") + name_of(kind), "put the file itself there");
    if (info.st_uid != 0)
        return model::make_refusal(
            Reason::not_permitted, shown(path_),
            "it belongs to user " + std::to_string(info.st_uid) + ", who could put other code into every job",
            remedy("chown root", path_, above));
    const bool kept = above && (info.st_mode & S_ISVTX) != 0;
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !kept)
        return model::make_refusal(Reason::not_permitted, shown(path_),
                                   (info.st_mode & S_IWOTH) != 0 ? "everybody can write it, not only root"
                                                                 : "its group can write it, not only root",
                                   remedy("chmod go-w", path_, above));
    return std::nullopt;
}

tl::expected<RootOwnedFile, Refusal> RootOwnedFile::step(const std::string& name, int flags,
                                                         const char* where_it_is) const {
    std::string path = path_ == "/" ? path_ + name : path_ + "/" + name;
    // Without O_NONBLOCK a pipe of that name would block the caller.
    const int fd =
        openat(fd_.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
    if (fd < 0) return not_opened(path, errno, where_it_is);
    return RootOwnedFile(Descriptor(fd), std::move(path));
}

tl::expected<RootOwnedFile, Refusal> RootOwnedFile::walk(const std::string& path, mode_t kind) {
    namespace fs = std::filesystem;
    const fs::path wanted = (fs::path(path) / "").lexically_normal().parent_path();
    RootOwnedFile here(Descriptor(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "/");
    if (!here.fd_) return not_opened("/", errno);
    if (auto why = here.why_not_roots(S_IFDIR, true)) return tl::unexpected(*why);
    for (auto part = std::next(wanted.begin()); part != wanted.end(); ++part) {
        const bool last = std::next(part) == wanted.end();
        auto next = here.step(part->native(), last && kind != S_IFDIR ? 0 : O_DIRECTORY, kListed);
        if (!next) return next;
        if (auto why = next->why_not_roots(last ? kind : S_IFDIR, !last)) return tl::unexpected(*why);
        here = std::move(*next);
    }
    return here;
}

tl::expected<RootOwnedFile, Refusal> RootOwnedFile::open_folder(const std::string& path) {
    return walk(path, S_IFDIR);
}

tl::expected<RootOwnedFile, Refusal> RootOwnedFile::open_file(const std::string& path) {
    return walk(path, S_IFREG);
}

tl::expected<RootOwnedFile, Refusal> RootOwnedFile::file_in(const std::string& name) const {
    auto file = step(name, 0, kGetAgain);
    if (!file) return file;
    if (auto why = file->why_not_roots(S_IFREG, false)) return tl::unexpected(*why);
    return file;
}

tl::expected<std::vector<std::byte>, Refusal> RootOwnedFile::content(std::uint64_t most) const {
    struct stat info {};
    if (fstat(fd_.fd(), &info) != 0) return not_opened(path_, errno);
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (size == 0 || size > most)
        return refuse(Reason::invalid, shown(path_),
                      size == 0 ? "it is empty" : "it has more than " + std::to_string(most) + " bytes",
                      kGetAgain);
    auto bytes = files::content_of(fd_.fd(), most);
    if (!bytes)
        return refuse(Reason::storage, shown(path_),
                      "it can't be read: " + std::generic_category().message(bytes.error()), kUnreadable);
    if (bytes->size() < size)
        return refuse(Reason::storage, shown(path_), "it became shorter while it was read", kUnreadable);
    return std::move(*bytes);
}

tl::expected<std::vector<std::string>, Refusal> RootOwnedFile::names() const {
    const int again = openat(fd_.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* stream = again < 0 ? nullptr : fdopendir(again);
    if (stream == nullptr) {
        const int error = errno;
        if (again >= 0) ::close(again);
        return not_opened(path_, error);
    }
    std::vector<std::string> found;
    while (const dirent* entry = readdir(stream)) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") found.push_back(name);
    }
    closedir(stream);
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace cgpu::bundle
