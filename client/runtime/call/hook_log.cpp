#include "client/runtime/call/hook_log.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>

namespace cgpu::runtime {
namespace {

constexpr std::string_view kJson = "--json-log=";
constexpr std::string_view kText = "--text-log=";
/// runc calls the hook from a child, and cgpu-runtime calls no other program for it.
constexpr int kMostGenerations = 3;

/// The process `pid` is the child of: /proc/PID/status has it by the numbers of this /proc, which may be
/// the host's while the process is in a namespace of its own. Empty: it can't be told.
std::string parent_of(const std::string& proc, const std::string& pid) {
    constexpr std::string_view kKey = "PPid:\t";
    std::ifstream file(proc + "/" + pid + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(kKey)) return line.substr(kKey.size());
    return {};
}

/// Without the program's name.
std::vector<std::string> arguments_of(const std::string& proc, const std::string& pid) {
    std::ifstream file(proc + "/" + pid + "/cmdline");
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    if (!words.empty()) words.erase(words.begin());
    return words;
}

}  // namespace

std::string hook_log_argument(const Invocation& invocation) {
    // A hook has another working folder. And crun's logs may be something else than a file, such as
    // `journald:NAME`.
    if (!std::filesystem::path(invocation.log).is_absolute()) return {};
    return std::string(invocation.log_as_json ? kJson : kText) + invocation.log;
}

HookLog log_of_calling_runtime(const std::string& proc) {
    std::string pid = "self";
    for (int generation = 0; generation < kMostGenerations; ++generation) {
        pid = parent_of(proc, pid);
        if (pid.empty() || pid == "0") break;
        const Invocation invocation = read_invocation(arguments_of(proc, pid));
        if (invocation.creates() && std::filesystem::path(invocation.log).is_absolute())
            return {invocation.log, invocation.log_as_json};
    }
    return {};
}

HookLog take_hook_log(std::vector<std::string>& arguments) {
    for (const std::string_view name : {kJson, kText}) {
        if (arguments.empty() || !arguments.back().starts_with(name)) continue;
        HookLog log{arguments.back().substr(name.size()), name == kJson};
        arguments.pop_back();
        return log;
    }
    return {};
}

}  // namespace cgpu::runtime
