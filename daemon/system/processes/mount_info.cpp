#include "daemon/system/processes/mount_info.hpp"

#include <sys/sysmacros.h>

#include <string>

namespace cgpu::system {
namespace {

/// Removes and returns the next word of a line.
std::string_view take_word(std::string_view& line) {
    const auto end = line.find(' ');
    const auto word = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    return word;
}

}  // namespace

bool mounts_folder(std::string_view mountinfo, dev_t device, std::string_view folder) {
    const auto number = std::to_string(major(device)) + ":" + std::to_string(minor(device));
    while (!mountinfo.empty()) {
        const auto end = mountinfo.find('\n');
        auto line = mountinfo.substr(0, end);
        mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);
        take_word(line);
        take_word(line);
        const bool same_device = take_word(line) == number;
        const auto root = take_word(line);
        if (same_device && root.size() > 1 && folder.ends_with(root)) return true;
    }
    return false;
}

}  // namespace cgpu::system
