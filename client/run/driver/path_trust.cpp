#include "client/run/driver/path_trust.hpp"

#include <climits>
#include <deque>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

namespace cgpu::client {
namespace {

/// As in the kernel.
constexpr int kMostLinks = 40;

std::deque<std::string> parts_of(const std::string& path) {
    std::deque<std::string> parts;
    for (const auto& part : std::filesystem::path(path).relative_path())
        if (!part.empty() && part != ".") parts.push_back(part.native());
    return parts;
}

bool belongs_to_root_alone(const struct stat& info) {
    return info.st_uid == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string target_of(const Descriptor& link) {
    std::string target(PATH_MAX, '\0');
    const ssize_t length = readlinkat(link.fd(), "", target.data(), target.size());
    target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return target;
}

}  // namespace

std::optional<std::string> writable_by_others(const Root& root, const std::string& path) {
    std::filesystem::path at = "/";
    auto left = parts_of(path);
    for (int links = 0;;) {
        const Descriptor there = root.find_real(at.native(), O_PATH | O_NOFOLLOW);
        struct stat info {};
        if (!there || fstat(there.fd(), &info) != 0) return at.native();
        if (S_ISLNK(info.st_mode)) {
            // The folder of the link is root's alone, so the link is what root has made or left there.
            const std::string target = target_of(there);
            if (target.empty() || ++links > kMostLinks) return at.native();
            const auto more = parts_of(target);
            left.insert(left.begin(), more.begin(), more.end());
            at = target.starts_with('/') ? std::filesystem::path("/") : at.parent_path();
            continue;
        }
        if (!belongs_to_root_alone(info)) return at.native();
        if (left.empty()) return std::nullopt;
        at = left.front() == ".." ? at.parent_path() : at / left.front();
        left.pop_front();
    }
}

}  // namespace cgpu::client
