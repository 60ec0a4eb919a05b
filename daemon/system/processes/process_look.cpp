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

ProcessLook::ProcessLook(app::Processes& processes, const model::Process& process) {
    const auto folder = "/proc/" + std::to_string(process.pid);
    mounts_ = mounted_folders(read_text(folder + "/mountinfo").value_or(""));
    cgroups_ = read_text(folder + "/cgroup").value_or("");
    auto pid = process.pid;
    while (pid > 1 && line_.size() < kMostGenerations) {
        const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat").value_or("");
        const auto start = field_in(stat, 22);
        if (!start) break;
        line_.push_back({pid, *start, process.boot_id});
        pid = static_cast<std::int32_t>(field_in(stat, 4).value_or(0));
    }
    alive_ = processes.alive(process);
}

bool ProcessLook::sees(const std::filesystem::path& folder) const {
    struct stat status {};
    if (!alive_ || stat(folder.c_str(), &status) != 0) return false;
    return std::ranges::any_of(
        mounts_, [&](const auto& mount) { return is_folder(mount, status.st_dev, folder.native()); });
}

bool ProcessLook::descends(const model::Process& ancestor) const {
    return alive_ && std::ranges::count(line_, ancestor) > 0;
}

bool ProcessLook::is_in_cgroup(const std::string& cgroup) const {
    return alive_ && system::is_in_cgroup(cgroups_, cgroup);
}

}  // namespace cgpu::system
