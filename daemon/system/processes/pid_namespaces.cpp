#include "daemon/system/processes/pid_namespaces.hpp"

#include <charconv>
#include <string>

#include "daemon/system/processes/proc_file.hpp"

namespace cgpu::system {
namespace {

/// The maximum number of ancestors to look at for the first process of a namespace; real trees have fewer.
constexpr int kMostAncestors = 256;

/// The numbers on the line that begins with `name`.
std::vector<std::int32_t> numbers_of(std::string_view status, std::string_view name) {
    std::vector<std::int32_t> numbers;
    auto at = status.find(name);
    if (at == std::string_view::npos) return numbers;
    status = status.substr(at + name.size());
    status = status.substr(0, status.find('\n'));
    while ((at = status.find('\t')) != std::string_view::npos) {
        status.remove_prefix(at + 1);
        std::int32_t number = 0;
        if (std::from_chars(status.data(), status.data() + status.size(), number).ec != std::errc{}) break;
        numbers.push_back(number);
    }
    return numbers;
}

PidStatus status_of(std::int32_t pid) {
    return parse_pid_status(read_text("/proc/" + std::to_string(pid) + "/status").value_or(""));
}

}  // namespace

PidStatus parse_pid_status(std::string_view status) {
    // The program's name, which may contain anything, is on the first line with its newlines escaped.
    const auto parent = numbers_of(status, "\nPPid:");
    return {numbers_of(status, "\nNSpid:"), parent.empty() ? 0 : parent.front()};
}

app::PidPlace read_pid_place(std::int32_t pid) {
    PidStatus status = status_of(pid);
    app::PidPlace place{status.pids, std::vector<std::int32_t>(status.pids.size(), 0)};
    // A process in the daemon's own namespace has no ancestors in others.
    for (int i = 0; i < kMostAncestors && status.pids.size() > 1; ++i) {
        const auto level = status.pids.size() - 1;
        if (status.pids.back() == 1 && level < place.inits.size()) place.inits[level] = status.pids.front();
        status = status_of(status.parent);
    }
    return place;
}

}  // namespace cgpu::system
