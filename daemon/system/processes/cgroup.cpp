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

/// Whether a part of a path is the name that engines and cgpuctl give to the cgroup of such an id: the id or
/// one that it is the beginning of, behind nothing or a word with a hyphen, as such or as a scope.
bool is_of(std::string_view part, std::string_view id) {
    constexpr std::string_view kScope = ".scope";
    if (part.ends_with(kScope)) part.remove_suffix(kScope.size());
    const auto hyphen = part.rfind('-');
    if (hyphen != std::string_view::npos) part.remove_prefix(hyphen + 1);
    return part.starts_with(id) && part.find_first_not_of(kHexadecimal) == std::string_view::npos;
}

}  // namespace

std::string cgroup_made_for(std::string_view text, std::string_view id) {
    std::string found;
    if (id.size() < kShortestId || id.find_first_not_of(kHexadecimal) != std::string_view::npos) return found;
    any_path(text, [&](std::string_view path) {
        for (std::size_t begin = 0; begin < path.size() && found.empty();) {
            const auto end = std::min(path.find('/', begin), path.size());
            if (is_of(path.substr(begin, end - begin), id)) found = path.substr(0, end);
            begin = end + 1;
        }
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
