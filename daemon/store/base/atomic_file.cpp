#include "daemon/store/base/atomic_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "files/descriptor.hpp"

namespace cgpu::store {
namespace {

namespace fs = std::filesystem;

/// `state.json` is written as `.state.json.new.XXXXXX`.
std::string temporary_prefix(const fs::path& path) { return "." + path.filename().string() + ".new."; }
/// What was `state.json` before the last replacement. The next content is written into it.
std::string spare_name(const fs::path& path) { return "." + path.filename().string() + ".spare"; }

bool write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

tl::unexpected<std::string> failed(const std::string& step) {
    return tl::unexpected(step + " failed: " + std::generic_category().message(errno));
}

/// Writes `content` over a file of `size` bytes, and syncs and closes it. The caller removes it on failure.
tl::expected<void, std::string> write_synced(Descriptor& file, std::string_view content, off_t size) {
    if (!write_all(file.fd(), content)) return failed("writing");
    const auto length = static_cast<off_t>(content.size());
    if (size > length && ::ftruncate(file.fd(), length) != 0) return failed("shortening");
    if (::fdatasync(file.fd()) != 0) return failed("syncing");
    if (!file.close()) return failed("closing");
    return {};
}

/// The open spare file and its size; none if there is no spare file, or if others might have a use for it: an
/// administrator may have linked a copy to it, or put a file of their own in the place of ours.
std::optional<off_t> open_spare(int folder, const std::string& name, Descriptor& spare) {
    spare = Descriptor(::openat(folder, name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat its {};
    if (spare.fd() < 0 || ::fstat(spare.fd(), &its) != 0) return std::nullopt;
    const bool ours = S_ISREG(its.st_mode) && its.st_nlink == 1 && its.st_uid == ::geteuid() &&
                      (its.st_mode & 07777U) == 0600U;
    return ours ? std::optional(its.st_size) : std::nullopt;
}

/// Gives the file `beside` the name `name`; the old file of that name gets the name `beside`, if there is one
/// and the file system can exchange names.
bool take_place(int folder, const std::string& beside, const std::string& name) {
    return ::renameat2(folder, beside.c_str(), folder, name.c_str(), RENAME_EXCHANGE) == 0 ||
           ::renameat(folder, beside.c_str(), folder, name.c_str()) == 0;
}

/// Puts the content into the spare file, and that in the place of the file. False: there is none to use.
tl::expected<bool, std::string> replace_by_spare(int folder, const fs::path& path, std::string_view content) {
    const std::string name = spare_name(path);
    Descriptor spare(-1);
    const auto size = open_spare(folder, name, spare);
    if (!size) return false;
    auto written = write_synced(spare, content, *size);
    if (written && !take_place(folder, name, path.filename())) written = failed("renaming the spare file");
    if (written) return true;
    // It may have taken the disk's last blocks.
    ::unlinkat(folder, name.c_str(), 0);
    return tl::unexpected(written.error());
}

tl::expected<void, std::string> replace_by_new_file(int folder, const fs::path& path,
                                                    std::string_view content) {
    std::string beside = (path.parent_path() / (temporary_prefix(path) + "XXXXXX")).string();
    Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
    if (file.fd() < 0) return failed("making a file beside it");
    const std::string name = fs::path(beside).filename();
    auto written = write_synced(file, content, 0);
    if (written && !take_place(folder, name, path.filename())) written = failed("renaming the new file");
    if (!written) {
        ::unlinkat(folder, name.c_str(), 0);
        return written;
    }
    if (::renameat(folder, name.c_str(), folder, spare_name(path).c_str()) != 0)
        ::unlinkat(folder, name.c_str(), 0);
    return {};
}

}  // namespace

tl::expected<Replaced, std::string> replace_file(const fs::path& path, std::string_view content,
                                                 int (*sync)(int folder)) {
    const Descriptor folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.fd() < 0) return failed("opening its folder");
    const auto replaced = replace_by_spare(folder.fd(), path, content);
    if (!replaced) return tl::unexpected(replaced.error());
    if (!*replaced)
        if (const auto made = replace_by_new_file(folder.fd(), path, content); !made)
            return tl::unexpected(made.error());
    // The new file is in force already, so this can't be reported as a failure: the change would not be
    // undone.
    return sync(folder.fd()) == 0 ? Replaced::durably : Replaced::until_power_fails;
}

fs::path spare_of(const fs::path& path) { return path.parent_path() / spare_name(path); }

bool take_back_spare(const fs::path& path, const fs::path& aside) {
    const auto spare = spare_of(path);
    return ::renameat2(AT_FDCWD, spare.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0 &&
           ::rename(spare.c_str(), aside.c_str()) == 0;
}

void remove_leftovers(const fs::path& path) {
    const std::string prefix = temporary_prefix(path);
    std::vector<fs::path> leftovers;
    std::error_code ignored;
    for (fs::directory_iterator it(path.parent_path(), ignored), end; !ignored && it != end;
         it.increment(ignored))
        if (it->path().filename().string().starts_with(prefix)) leftovers.push_back(it->path());
    for (const fs::path& leftover : leftovers) fs::remove(leftover, ignored);
}

}  // namespace cgpu::store
