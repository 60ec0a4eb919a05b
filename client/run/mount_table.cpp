#include "client/run/mount_table.hpp"

#include <charconv>
#include <fstream>
#include <sstream>

namespace cgpu::client {
namespace {

/// The kernel writes blanks, line ends and backslashes as three octal digits after a backslash.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const char* const end = text.data() + i + 4;
        if (text[i] == '\\' && i + 4 <= text.size() &&
            std::from_chars(text.data() + i + 1, end, value, 8).ptr == end) {
            plain += static_cast<char>(value);
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

}  // namespace

std::vector<Mount> read_mounts(std::string_view mountinfo) {
    std::vector<Mount> mounts;
    std::istringstream lines{std::string(mountinfo)};
    for (std::string line; std::getline(lines, line);) {
        // id, the parent's id, device, root, mount point, options, then fields up to a "-"
        std::istringstream words(line);
        Mount mount;
        std::string word;
        std::string point;
        if (!(words >> mount.id >> word >> word >> word >> point >> word)) continue;
        while (words >> word && word != "-") mount.shared = mount.shared || word.starts_with("shared:");
        mount.point = unescaped(point);
        mounts.push_back(std::move(mount));
    }
    return mounts;
}

std::vector<Mount> mounts_here() {
    std::ifstream file("/proc/self/mountinfo");
    std::ostringstream text;
    text << file.rdbuf();
    return read_mounts(text.str());
}

}  // namespace cgpu::client
