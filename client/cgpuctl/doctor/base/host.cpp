#include "client/cgpuctl/doctor/base/host.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/stat.h>

#include "files/read.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20;
constexpr std::array kProgramFolders = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                        "/usr/bin",        "/sbin",          "/bin"};

}  // namespace

client::Result<Host> Host::open(const std::string& root, bool is_root) {
    auto opened = client::Root::open(root);
    if (!opened) return tl::unexpected(opened.error());
    return Host(std::move(*opened), root == "/" ? "" : root, is_root);
}

Host::Text Host::read(const std::string& path) const {
    errno = 0;
    const auto there = root_.find(path, O_PATH);
    struct stat info {};
    if (!there || fstat(there.fd(), &info) != 0) return {{}, errno};
    if (!S_ISREG(info.st_mode)) return {{}, S_ISDIR(info.st_mode) ? EISDIR : EINVAL};
    const auto file = root_.find_file(path);
    if (!file) return {{}, errno};
    auto text = files::read_up_to(file.fd(), kMost);
    if (!text) return {{}, text.error()};
    return {std::move(*text), 0};
}

bool Host::exists(const std::string& path) const { return static_cast<bool>(root_.find(path, O_PATH)); }

bool Host::executable(const std::string& path) const {
    const auto file = root_.find(path, O_PATH);
    struct stat info {};
    return file && fstat(file.fd(), &info) == 0 && S_ISREG(info.st_mode) &&
           (info.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

std::string Host::first_of(const std::vector<std::string>& paths) const {
    const auto found = std::ranges::find_if(paths, [&](const std::string& path) { return exists(path); });
    return found == paths.end() ? "" : *found;
}

bool Host::has_program(const std::string& name) const {
    return std::ranges::any_of(kProgramFolders,
                               [&](const std::string& folder) { return executable(folder + "/" + name); });
}

std::vector<std::string> Host::names_in(const std::string& folder) const {
    auto names = root_.names_in(folder);
    std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
    return names;
}

std::vector<Host::Process> Host::processes() const {
    std::vector<Process> all;
    for (const std::string& name : names_in("/proc")) {
        Process process;
        const char* const end = name.data() + name.size();
        const auto [stopped, error] = std::from_chars(name.data(), end, process.pid);
        if (error != std::errc{} || stopped != end) continue;
        process.name = read("/proc/" + name + "/comm").text;
        process.name.erase(std::min(process.name.find('\n'), process.name.size()));
        all.push_back(std::move(process));
    }
    return all;
}

}  // namespace cgpu::cgpuctl::doctor
