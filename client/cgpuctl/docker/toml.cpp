#include "client/cgpuctl/docker/toml.hpp"

#include <sstream>
#include <utility>

#include "core/model/trimmed.hpp"

namespace cgpu::cgpuctl {
namespace {

std::string unquoted(const std::string& text) {
    const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'');
    return quoted && text.back() == text.front() ? text.substr(1, text.size() - 2) : text;
}

/// Adds the strings of a part of a value, up to a comment. Returns whether the list that it belongs to goes
/// on in the next line.
bool add_strings(std::string_view part, bool in_list, std::vector<std::string>& strings) {
    for (std::size_t at = 0; at < part.size(); ++at) {
        const char mark = part[at];
        if (mark == '#') break;
        if (mark == '[') in_list = true;
        if (mark == ']') in_list = false;
        if (mark != '"' && mark != '\'') continue;
        const auto end = part.find(mark, at + 1);
        if (end == std::string_view::npos) break;
        strings.emplace_back(part.substr(at + 1, end - at - 1));
        at = end;
    }
    return in_list;
}

}  // namespace

std::vector<TomlEntry> read_toml(std::string_view text) {
    std::vector<TomlEntry> entries;
    std::istringstream lines{std::string(text)};
    std::string table;
    bool in_list = false;
    for (std::string raw; std::getline(lines, raw);) {
        const std::string line(model::trimmed(raw));
        if (in_list) {
            in_list = add_strings(line, true, entries.back().strings);
            continue;
        }
        if (line.starts_with('[')) {
            table = model::trimmed(line.substr(1, line.find(']') - 1));
            continue;
        }
        const auto equals = line.find('=');
        if (line.starts_with('#') || equals == std::string::npos) continue;
        std::string key = unquoted(std::string(model::trimmed(line.substr(0, equals))));
        if (key.empty()) continue;
        entries.push_back({table, std::move(key), {}});
        in_list = add_strings(line.substr(equals + 1), false, entries.back().strings);
    }
    return entries;
}

}  // namespace cgpu::cgpuctl
