#include "client/cgpuctl/output/csv.hpp"

#include <algorithm>
#include <array>

#include "core/model/printable.hpp"

namespace cgpu::cgpuctl {
namespace {

/// The second four are what spreadsheets of East Asia read as the first.
constexpr std::array<std::string_view, 8> kFormulas = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};
/// Of the dialects that spreadsheets guess; tabs and ends of lines aren't printable.
constexpr std::string_view kSeparators = ",;|\"";

bool begins_a_formula(std::string_view text) {
    // What stands in place of a tab or an end of line, before which a formula may be hidden, counts as a
    // blank.
    text.remove_prefix(std::min(text.find_first_not_of(" ?"), text.size()));
    return std::any_of(kFormulas.begin(), kFormulas.end(),
                       [text](std::string_view formula) { return text.starts_with(formula); });
}

}  // namespace

std::string csv_cell(std::string_view text) {
    std::string shown = model::printable(text);
    if (begins_a_formula(shown)) shown.insert(0, 1, '\'');
    if (shown.find_first_of(kSeparators) == std::string::npos) return shown;
    std::string quoted = "\"";
    for (const char letter : shown) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    return quoted + "\"";
}

}  // namespace cgpu::cgpuctl
