#include "daemon/system/processes/cgroup.hpp"

#include <algorithm>

namespace cgpu::system {
namespace {

constexpr std::size_t kShortestId = 12;
constexpr std::string_view kHexadecimal = "0123456789abcdef";

/// Calls for the path of each line (`NUMBER:CONTROLLERS:PATH`), until one answers true.
template <class Call>
bool any_path(std::string_view text, const Call& call) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto second = line.find(':', line.find(':') + 1);
        if (second != std::string_view::npos && call(line.substr(second + 1))) return true;
    }
    return false;
}

}  // namespace

std::string cgroup_made_for(std::string_view text, std::string_view id) {
    std::string found;
    if (id.size() < kShortestId || id.find_first_not_of(kHexadecimal) != std::string_view::npos) return found;
    any_path(text, [&](std::string_view path) {
        const auto at = path.find(id);
        if (at != std::string_view::npos) found = path.substr(0, path.find('/', at));
        return !found.empty();
    });
    return found;
}

bool is_in_cgroup(std::string_view text, std::string_view cgroup) {
    return !cgroup.empty() && any_path(text, [&](std::string_view path) {
        return path.starts_with(cgroup) && (path.size() == cgroup.size() || path[cgroup.size()] == '/');
    });
}

}  // namespace cgpu::system
