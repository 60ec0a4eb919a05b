#include "client/cgpuctl/docker/engine/engine_process.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include "client/cgpuctl/docker/engine/engine_file.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;

/// Of a file of words that end with a NUL.
std::vector<std::string> words_of(const std::string& file) {
    const std::string text = read_engine_file(file).value_or(std::string());
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\0', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

std::string link_of(const std::string& path) {
    std::error_code none;
    return fs::read_symlink(path, none).native();
}

bool same_namespace(const std::string& proc, const std::string& folder, const char* name) {
    return link_of(folder + "/ns/" + name) == link_of(proc + "/self/ns/" + name);
}

/// Whether all four user ids of the process are the caller's. Its folder's owner says nothing: any process
/// that isn't dumpable has root's.
bool is_own(const std::string& folder) {
    std::istringstream status(read_engine_file(folder + "/status").value_or(std::string()));
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("Uid:")) continue;
        std::istringstream ids(line.substr(4));
        int same = 0;
        for (uid_t id = 0; ids >> id; ++same)
            if (id != geteuid()) return false;
        return same == 4;
    }
    return false;
}

}  // namespace

std::string EngineProcess::absolute(const std::string& path) const {
    return fs::path(path.starts_with('/') ? path : link_of(folder + "/cwd") + "/" + path).lexically_normal();
}

std::string EngineProcess::variable(std::string_view name) const {
    for (const std::string& word : words_of(folder + "/environ"))
        if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
            return word.substr(name.size() + 1);
    return {};
}

bool EngineProcess::sees(const std::string& path, bool executable) const {
    struct stat here {};
    struct stat there {};
    const bool is_here = stat(path.c_str(), &here) == 0;
    const bool is_there = stat((folder + "/root" + path).c_str(), &there) == 0;
    if (is_here != is_there) return false;
    if (!is_here) return !executable;
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino &&
           (!executable || (there.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0);
}

std::vector<EngineProcess> engine_processes(std::string_view name, const std::string& proc) {
    std::vector<EngineProcess> all;
    const std::string its_name = std::string(name) + "\n";
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(proc, error)) {
        const std::string number = entry.path().filename();
        pid_t pid = 0;
        const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), pid);
        if (failed != std::errc{} || end != number.data() + number.size()) continue;
        const std::string folder = fs::path(proc) / number;
        // The words of a command line are anybody's to choose; the name is that of the program that was
        // executed.
        if (read_engine_file(folder + "/comm").value_or(std::string()) != its_name) continue;
        if (!is_own(folder)) continue;
        if (!same_namespace(proc, folder, "pid")) continue;
        all.push_back({pid, words_of(folder + "/cmdline"), folder, !same_namespace(proc, folder, "user")});
    }
    std::ranges::sort(all, {}, &EngineProcess::pid);
    return all;
}

}  // namespace cgpu::cgpuctl
