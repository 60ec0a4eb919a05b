#include "daemon/system/processes/mount_info.hpp"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace cgpu::system {
namespace {

/// Removes and returns the next word of a line.
std::string_view take_word(std::string_view& line) {
    const auto end = line.find(' ');
    const auto word = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    return word;
}

/// `MAJOR:MINOR`; nothing where it is something else.
std::optional<dev_t> device_in(std::string_view word) {
    unsigned numbers[2] = {};
    const char* at = word.data();
    const char* const end = word.data() + word.size();
    for (auto& number : numbers) {
        const auto [next, error] = std::from_chars(at, end, number);
        const bool last = &number == &numbers[1];
        if (error != std::errc() || (last ? next != end : next == end || *next != ':')) return std::nullopt;
        at = next + (last ? 0 : 1);
    }
    return makedev(numbers[0], numbers[1]);
}

}  // namespace

std::vector<MountedFolder> mounted_folders(std::string_view mountinfo) {
    std::vector<MountedFolder> found;
    while (!mountinfo.empty()) {
        const auto end = mountinfo.find('\n');
        auto line = mountinfo.substr(0, end);
        mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);
        take_word(line);
        take_word(line);
        const auto device = device_in(take_word(line));
        const auto root = take_word(line);
        if (device && root.size() > 1) found.push_back({*device, std::string(root)});
    }
    return found;
}

bool is_folder(const MountedFolder& mount, dev_t device, std::string_view folder) {
    return mount.device == device && folder.ends_with(mount.root);
}

bool mounts_folder(std::string_view mountinfo, dev_t device, std::string_view folder) {
    return std::ranges::any_of(mounted_folders(mountinfo),
                               [&](const auto& mount) { return is_folder(mount, device, folder); });
}

}  // namespace cgpu::system
