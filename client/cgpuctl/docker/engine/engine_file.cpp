#include "client/cgpuctl/docker/engine/engine_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "files/read.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;
using Kind = client::ClientError::Kind;

/// The error for an operation that failed on a file, by errno.
tl::unexpected<client::ClientError> cannot_be(const std::string& file, const char* done, int reason) {
    const bool rights = reason == EACCES || reason == EPERM;
    return client::fail(
        rights ? Kind::not_authorized : Kind::failed,
        file + ": it can't be " + done + ": " + std::strerror(reason) + ". Try: " +
            (rights ? "run it as root (sudo)." : "check its rights (ls -ld), and whether the disk is full."));
}

}  // namespace

std::string before_file(const std::string& file) { return file + ".before-cgpu"; }

bool is_same_file(const std::string& left, const std::string& right) {
    std::error_code none;
    return fs::weakly_canonical(left, none) == fs::weakly_canonical(right, none);
}

client::Result<std::string> read_engine_file(const std::string& file) {
    constexpr std::size_t kLongest = std::size_t{4} << 20;
    auto text = files::read_text(file, kLongest + 1);
    if (text && text->size() > kLongest) return cannot_be(file, "read", EFBIG);
    if (text) return std::move(*text);
    if (text.error().is_missing()) return std::string();
    if (text.error().is_no_file())
        return client::fail(Kind::failed, file + ": it can't be read: " + text.error().why() +
                                              ". Try: put a file in its place, or remove it.");
    return cannot_be(file, "read", text.error().error);
}

client::Result<void> write_engine_file(const std::string& file, const std::string& text) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(file, error);
    if (fs::create_directories(real.parent_path(), error); error)
        return cannot_be(file, "written", error.value());
    const std::string beside = real.native() + ".cgpu-new";
    struct stat old {};
    const bool there = stat(real.c_str(), &old) == 0;
    const auto written = files::write_text(beside, text);
    if (!written && written.error().is_no_file())
        return client::fail(Kind::failed, beside + ": " + written.error().why() + ". Try: remove it.");
    errno = written ? errno : written.error().error;
    if (!written ||
        (there && (chmod(beside.c_str(), old.st_mode & 07777U) != 0 ||
                   chown(beside.c_str(), old.st_uid, old.st_gid) != 0)) ||
        rename(beside.c_str(), real.c_str()) != 0) {
        const int reason = errno;
        unlink(beside.c_str());
        return cannot_be(file, "written", reason);
    }
    return {};
}

client::Result<void> remove_engine_file(const std::string& file) {
    std::error_code error;
    if (fs::remove(file, error); error) return cannot_be(file, "removed", error.value());
    return {};
}

}  // namespace cgpu::cgpuctl
