#include "client/cgpuctl/docker/containerd/toml_tables.hpp"

#include <algorithm>
#include <array>

#include "core/model/trimmed.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr std::string_view kBlanks = " \t\r";

/// Reads a dotted name up to `end` (`]` or `=`) outside quotes, and moves `at` there.
TomlPath read_name(std::string_view line, std::size_t& at, char end) {
    TomlPath path(1);
    bool was_quoted = false;
    for (; at < line.size() && line[at] != end; ++at) {
        const char mark = line[at];
        if (mark == '"' || mark == '\'') {
            const auto close = std::min(line.find(mark, at + 1), line.size());
            path.back() = line.substr(at + 1, close - at - 1);
            was_quoted = true;
            at = close;
            if (at == line.size()) break;
        } else if (mark == '.') {
            path.emplace_back();
            was_quoted = false;
        } else if (!was_quoted && kBlanks.find(mark) == std::string_view::npos) {
            path.back() += mark;
        }
    }
    return path;
}

/// What is open at the end of a line: brackets of a list, or the quotes of a text over several lines.
struct Open {
    std::size_t brackets = 0;
    std::string_view quotes;

    [[nodiscard]] bool any() const { return brackets > 0 || !quotes.empty(); }

    /// Returns where a comment begins, or the end.
    std::size_t read(std::string_view part) {
        constexpr std::array<std::string_view, 4> kQuotes = {"\"\"\"", "'''", "\"", "'"};
        std::size_t at = 0;
        while (at < part.size()) {
            const std::string_view rest = part.substr(at);
            if (!quotes.empty()) {
                if (rest.starts_with(quotes)) {
                    at += quotes.size();
                    quotes = {};
                } else {
                    at += std::size_t{1} + (rest.front() == '\\' && quotes.front() == '"' ? 1U : 0U);
                }
                continue;
            }
            if (rest.front() == '#') break;
            const auto* const quote = std::find_if(kQuotes.begin(), kQuotes.end(),
                                                   [&](const auto& each) { return rest.starts_with(each); });
            if (quote != kQuotes.end()) {
                quotes = *quote;
                at += quote->size();
                continue;
            }
            if (rest.front() == '[' || rest.front() == '{') ++brackets;
            if ((rest.front() == ']' || rest.front() == '}') && brackets > 0) --brackets;
            ++at;
        }
        // A text in single quotes ends with its line.
        if (quotes.size() == 1) quotes = {};
        return std::min(at, part.size());
    }
};

void read_line(TomlLine& line, Open& open) {
    const std::string_view text = model::trimmed(line.text);
    if (text.empty() || text.front() == '#') return;
    if (text.front() == '[') {
        std::size_t at = text.starts_with("[[") ? 2 : 1;
        line.is_header = true;
        line.table = read_name(text, at, ']');
        return;
    }
    std::size_t at = 0;
    const TomlPath key = read_name(text, at, '=');
    if (at >= text.size()) return;
    line.key = line.table;
    line.key.insert(line.key.end(), key.begin(), key.end());
    const std::string_view value = text.substr(at + 1);
    line.value = model::trimmed(value.substr(0, open.read(value)));
}

}  // namespace

std::vector<TomlLine> toml_lines(std::string_view text) {
    std::vector<TomlLine> lines;
    TomlPath table;
    Open open;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        TomlLine line{std::string(text.substr(0, end)), table, false, {}, {}};
        text.remove_prefix(std::min(end + 1, text.size()));
        if (open.any())
            (void)open.read(line.text);
        else
            read_line(line, open);
        table = line.table;
        lines.push_back(std::move(line));
    }
    return lines;
}

bool starts_with(const TomlPath& path, const TomlPath& start) {
    return path.size() >= start.size() && std::equal(start.begin(), start.end(), path.begin());
}

}  // namespace cgpu::cgpuctl
