#include "daemon/system/processes/process_look.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "daemon/system/processes/cgroup.hpp"
#include "daemon/system/processes/proc_file.hpp"

namespace cgpu::system {

ProcessLook::ProcessLook(app::Processes& processes, model::Process process)
    : processes_(processes), process_(std::move(process)) {
    const auto folder = "/proc/" + std::to_string(process_.pid);
    mounts_ = mounted_folders(read_text(folder + "/mountinfo").value_or(""));
    cgroups_ = read_text(folder + "/cgroup").value_or("");
    alive_ = processes_.alive(process_);
}

bool ProcessLook::sees(const std::filesystem::path& folder) const {
    struct stat status {};
    if (!alive_ || stat(folder.c_str(), &status) != 0) return false;
    return std::ranges::any_of(
        mounts_, [&](const auto& mount) { return is_folder(mount, status.st_dev, folder.native()); });
}

bool ProcessLook::descends(const model::Process& ancestor) const {
    return alive_ && processes_.descends(process_, ancestor);
}

bool ProcessLook::is_in_cgroup(const std::string& cgroup) const {
    return alive_ && system::is_in_cgroup(cgroups_, cgroup);
}

}  // namespace cgpu::system
