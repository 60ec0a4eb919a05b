#include "client/cgpuctl/docker/engine/engine_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

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
    std::error_code error;
    if (fs::is_directory(file, error)) return cannot_be(file, "read", EISDIR);
    errno = 0;
    std::ifstream stream(file);
    if (!stream.is_open()) {
        if (errno == ENOENT) return std::string();
        return cannot_be(file, "read", errno);
    }
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

client::Result<void> write_engine_file(const std::string& file, const std::string& text) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(file, error);
    if (fs::create_directories(real.parent_path(), error); error)
        return cannot_be(file, "written", error.value());
    const std::string beside = real.native() + ".cgpu-new";
    struct stat old {};
    const bool there = stat(real.c_str(), &old) == 0;
    errno = 0;
    std::ofstream stream(beside);
    if (!stream.is_open()) return cannot_be(file, "written", errno);
    stream << text;
    stream.close();
    if (!stream ||
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
