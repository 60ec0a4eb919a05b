#include "daemon/system/processes/process_look.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "daemon/system/processes/cgroup.hpp"
#include "daemon/system/processes/proc_file.hpp"

namespace cgpu::system {

namespace {

/// Deep enough for any tree of processes, and an end for one that changes while it is read.
constexpr int kMostGenerations = 64;

}  // namespace

template <class T>
const T& ProcessLook::read_once(std::optional<T>& value, T (ProcessLook::*read)() const) const {
    if (!value) {
        value = (this->*read)();
        // Else it may be of another process with this pid.
        if (!processes_.alive(process_)) value = T();
    }
    return *value;
}

std::string ProcessLook::text_of(const char* file) const {
    return read_text("/proc/" + std::to_string(process_.pid) + file).value_or("");
}

std::vector<model::Process> ProcessLook::read_line() const {
    std::vector<model::Process> line;
    auto pid = process_.pid;
    while (pid > 1 && line.size() < kMostGenerations) {
        const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat").value_or("");
        const auto start = field_in(stat, 22);
        if (!start) break;
        line.push_back({pid, *start, process_.boot_id});
        pid = static_cast<std::int32_t>(field_in(stat, 4).value_or(0));
    }
    return line;
}

bool ProcessLook::sees(const std::filesystem::path& folder) const {
    struct stat status {};
    const auto& mounts = read_once(mounts_, &ProcessLook::read_mounts);
    if (mounts.empty() || stat(folder.c_str(), &status) != 0) return false;
    return std::ranges::any_of(
        mounts, [&](const auto& mount) { return is_folder(mount, status.st_dev, folder.native()); });
}

bool ProcessLook::descends(const model::Process& ancestor) const {
    return std::ranges::count(read_once(line_, &ProcessLook::read_line), ancestor) > 0;
}

bool ProcessLook::is_in_cgroup(const std::string& cgroup) const {
    return system::is_in_cgroup(read_once(cgroups_, &ProcessLook::read_cgroups), cgroup);
}

}  // namespace cgpu::system
