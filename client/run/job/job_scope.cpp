#include "client/run/job/job_scope.hpp"

#include <vector>

#include "files/read.hpp"

namespace cgpu::client {
namespace {

/// The number of characters of an id that users are shown.
constexpr std::size_t kShownOfId = 12;

/// The path in one line of a /proc/PID/cgroup, if it is of a hierarchy that systemd may manage: cgroup v2's,
/// or the one of v1 that is named after systemd (cgroups(7)). Otherwise empty.
std::string_view path_for_systemd(std::string_view line) {
    constexpr std::string_view kUnified = "0::";
    constexpr std::string_view kNamed = ":name=systemd:";
    if (line.starts_with(kUnified)) return line.substr(kUnified.size());
    const auto at = line.find(kNamed);
    return at == std::string_view::npos ? std::string_view() : line.substr(at + kNamed.size());
}

std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        const auto end = path.find('/');
        if (end != 0) parts.push_back(path.substr(0, end));
        path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
    }
    return parts;
}

bool is_called(std::string_view name, std::string_view begin, std::string_view end) {
    return name.size() > begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end);
}

std::optional<std::string> slice_in(std::string_view path) {
    const auto parts = parts_of(path);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        if (!is_called(parts[i], "user-", ".slice")) continue;
        const bool session = is_called(parts[i + 1], "session-", ".scope") && i + 2 == parts.size();
        const bool own_systemd = is_called(parts[i + 1], "user@", ".service");
        if (session || own_systemd) return std::string(parts[i]);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> slice_for_job(std::string_view cgroups) {
    while (!cgroups.empty()) {
        const auto end = cgroups.find('\n');
        if (auto slice = slice_in(path_for_systemd(cgroups.substr(0, end)))) return slice;
        cgroups.remove_prefix(end == std::string_view::npos ? cgroups.size() : end + 1);
    }
    return std::nullopt;
}

std::optional<std::string> slice_for_this_process() {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    return slice_for_job(files::read_text("/proc/self/cgroup", kMost).value_or(""));
}

std::string scope_name(std::string_view id) {
    return "cgpu-job-" + std::string(id.substr(0, kShownOfId)) + ".scope";
}

}  // namespace cgpu::client
