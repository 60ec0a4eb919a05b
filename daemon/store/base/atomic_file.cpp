#include "daemon/store/base/atomic_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace cgpu::store {
namespace {

namespace fs = std::filesystem;

/// `state.json` is written as `.state.json.new.XXXXXX`.
std::string temporary_prefix(const fs::path& path) { return "." + path.filename().string() + ".new."; }

/// An open descriptor that is closed at the end.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close_now(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int get() const { return fd_; }
    bool close_now() {
        const int fd = std::exchange(fd_, -1);
        return fd < 0 || ::close(fd) == 0;
    }

  private:
    int fd_;
};

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

/// Writes and syncs the new content beside the file; the caller removes it on failure.
tl::expected<void, std::string> write_beside(Descriptor& file, std::string_view content) {
    if (!write_all(file.get(), content)) return failed("writing");
    if (::fsync(file.get()) != 0) return failed("syncing");
    if (!file.close_now()) return failed("closing");
    return {};
}

}  // namespace

tl::expected<Replaced, std::string> replace_file(const fs::path& path, std::string_view content,
                                                 int (*sync)(int folder)) {
    const fs::path folder = path.parent_path();
    const Descriptor folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder_fd.get() < 0) return failed("opening its folder");
    std::string beside = (folder / (temporary_prefix(path) + "XXXXXX")).string();
    Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
    if (file.get() < 0) return failed("making a file beside it");
    auto written = write_beside(file, content);
    if (written && ::rename(beside.c_str(), path.c_str()) != 0) written = failed("renaming the new file");
    if (!written) {
        ::unlink(beside.c_str());
        return tl::unexpected(written.error());
    }
    // The new file is in force already, so this can't be reported as a failure: the change would not be
    // undone.
    return sync(folder_fd.get()) == 0 ? Replaced::durably : Replaced::until_power_fails;
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
