#include "daemon/system/log/log_subject.hpp"

#include <algorithm>

namespace cgpu::system {
namespace {

/// The word after `kind` and a space at the start of `line`, or empty.
std::string_view word_behind(std::string_view kind, std::string_view line) {
    if (!line.starts_with(kind)) return {};
    line.remove_prefix(kind.size());
    return line.substr(0, std::min(line.find_first_of(" :,"), line.size()));
}

bool is_number(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

LogSubject subject_of(std::string_view line) {
    LogSubject subject;
    subject.instance = word_behind("instance ", line);
    constexpr std::string_view kProcess = ": process ";
    const auto behind = line.find(kProcess);
    if (!subject.instance.empty() && behind == line.find(": "))
        if (const auto pid = word_behind(kProcess, line.substr(std::min(behind, line.size())));
            is_number(pid))
            subject.process = pid;
    if (const auto index = word_behind("GPU ", line); is_number(index)) {
        subject.gpu = index;
        const auto uuid = line.substr(std::string_view("GPU ").size() + index.size());
        if (uuid.starts_with(" (GPU-"))
            subject.gpu_uuid = uuid.substr(2, std::min(uuid.find(')'), uuid.size()) - 2);
    }
    return subject;
}

}  // namespace cgpu::system
