#include "client/run/files/root.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "files/read.hpp"

namespace cgpu::client {
namespace {

std::optional<std::string> link_target(const std::string& link) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = readlink(link.c_str(), target.data(), target.size());
    if (length < 0) return std::nullopt;
    return std::string(target.data(), static_cast<std::size_t>(length));
}

std::string parent_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }
std::string name_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

std::string by_descriptor(const Descriptor& file) { return "/proc/self/fd/" + std::to_string(file.fd()); }

Result<Root> Root::open(const std::string& folder) {
    Descriptor fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const auto path = fd ? link_target(by_descriptor(fd)) : std::nullopt;
    if (!path)
        return fail(ClientError::Kind::failed, folder + ": " + std::strerror(errno) +
                                                   ". Try: name an existing folder, with /proc mounted.");
    return Root(std::move(fd), *path == "/" ? "" : *path);
}

Descriptor Root::find(const std::string& path, int flags) const { return look_up(path, flags, 0); }

Descriptor Root::find_real(const std::string& path, int flags) const {
    return look_up(path, flags, RESOLVE_NO_SYMLINKS);
}

Descriptor Root::look_up(const std::string& path, int flags, std::uint64_t resolve) const {
    open_how how{};
    how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
    if ((flags & O_CREAT) != 0) how.mode = 0644;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve;
    // EAGAIN: a file was renamed meanwhile, so the kernel can't tell whether the path stayed inside.
    constexpr int kTries = 32;
    long fd = -1;
    for (int i = 0; i < kTries && (i == 0 || (fd < 0 && errno == EAGAIN)); ++i)
        fd = syscall(__NR_openat2, fd_.fd(), path.c_str(), &how, sizeof how);
    return Descriptor(static_cast<int>(fd));
}

Descriptor Root::find_file(const std::string& path) const {
    // Checked before it is opened, because opening a device or a fifo has side effects.
    const Descriptor there = find(path, O_PATH);
    struct stat info {};
    if (!there || fstat(there.fd(), &info) != 0 || !S_ISREG(info.st_mode)) return Descriptor();
    // Without O_NONBLOCK a lease of another process would have to be waited for.
    return Descriptor(::open(by_descriptor(there).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

Descriptor Root::make_folder(const std::string& path) const {
    constexpr int kFolder = O_PATH | O_DIRECTORY;
    if (path.empty()) return find("/", kFolder);
    if (Descriptor there = find(path, kFolder); there || errno != ENOENT) return there;
    const Descriptor parent = make_folder(parent_of(path));
    if (!parent) return Descriptor();
    if (mkdirat(parent.fd(), name_of(path).c_str(), 0755) != 0 && errno != EEXIST) return Descriptor();
    return find(path, kFolder);
}

Descriptor Root::make_file(const std::string& path) const {
    if (!make_folder(parent_of(path))) return Descriptor();
    return find(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

std::vector<std::string> Root::names_in(const std::string& folder) const {
    return names_in(folder, [](std::string_view) { return true; });
}

std::vector<std::string> Root::names_in(const std::string& folder,
                                        const std::function<bool(std::string_view)>& wanted) const {
    const Descriptor fd = find(folder, O_RDONLY | O_DIRECTORY);
    std::vector<std::string> names;
    DIR* listing = fd ? fdopendir(dup(fd.fd())) : nullptr;
    if (listing == nullptr) return names;
    while (const dirent* entry = readdir(listing))
        if (wanted(entry->d_name)) names.emplace_back(entry->d_name);
    closedir(listing);
    std::sort(names.begin(), names.end());
    return names;
}

std::string Root::text_of(const std::string& path, std::size_t limit) const {
    const Descriptor fd = find_file(path);
    return fd ? files::read_up_to(fd.fd(), limit).value_or("") : "";
}

std::string Root::path_of(const Descriptor& file) const {
    const auto path = link_target(by_descriptor(file));
    return path ? inside(*path) : "";
}

std::string Root::inside(const std::string& path) const {
    return path.starts_with(path_ + "/") ? path.substr(path_.size()) : "";
}

}  // namespace cgpu::client
