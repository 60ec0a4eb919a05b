#include "tests/sim/device/ledger/process_identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace simgpu {

namespace {

std::uint64_t pid_namespace_of(const std::string& proc_folder) {
    struct stat status {};
    return stat((proc_folder + "/ns/pid").c_str(), &status) == 0 ? status.st_ino : 0;
}

std::uint64_t start_time_of(const std::string& proc_folder) {
    std::ifstream file(proc_folder + "/stat");
    std::string line;
    std::getline(file, line);
    // The name in parentheses may hold anything; the start time is the 20th field after it.
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream rest(line.substr(name_end + 1));
    std::string field;
    for (int i = 0; i < 20; ++i) rest >> field;
    std::uint64_t ticks = 0;
    std::from_chars(field.data(), field.data() + field.size(), ticks);
    return ticks;
}

int innermost_pid(const std::string& proc_folder) {
    std::ifstream file(proc_folder + "/status");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("NSpid:")) continue;
        std::istringstream pids(line.substr(6));
        int pid = 0;
        for (int next = 0; pids >> next;) pid = next;
        return pid;
    }
    return 0;
}

/// As nvidia-smi calls them.
ProcessType type_from_environment() {
    const char* const text = std::getenv("SIMGPU_PROCESS_TYPE");
    const std::string_view type = text == nullptr ? "" : text;
    if (type == "G") return ProcessType::graphics;
    if (type == "C+G") return ProcessType::compute_and_graphics;
    if (type == "M+C") return ProcessType::mps;
    return ProcessType::compute;
}

/// NVIDIA's driver tells the pids of all processes to every user. The kernel shows the namespace of another
/// user's process in a user namespace to root alone, but its start time to all.
bool is_at(const ProcessEntry& process, const std::string& proc_folder) {
    if (innermost_pid(proc_folder) != process.pid) return false;
    const auto its = pid_namespace_of(proc_folder);
    return its != 0 ? its == process.pid_namespace : start_time_of(proc_folder) == process.start_time;
}

}  // namespace

ProcessEntry own_identity() {
    ProcessEntry entry{};
    entry.type = type_from_environment();
    entry.pid = getpid();
    entry.pid_namespace = pid_namespace_of("/proc/self");
    entry.start_time = start_time_of("/proc/self");
    std::ifstream comm("/proc/self/comm");
    comm.getline(entry.comm, sizeof entry.comm);
    return entry;
}

int pid_seen_from_here(const ProcessEntry& process) {
    if (process.pid_namespace == pid_namespace_of("/proc/self")) return process.pid;
    std::error_code error;
    for (const auto& folder : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = folder.path().filename();
        if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
        if (is_at(process, folder.path())) return std::stoi(name);
    }
    return 0;
}

}  // namespace simgpu
