#include "client/cgpuctl/top/base/figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "client/cgpuctl/output/format.hpp"
#include "core/model/letter.hpp"

namespace cgpu::cgpuctl::top {
namespace {

/// From one eighth of a column to a whole one.
constexpr std::array<std::string_view, 8> kPartsOfColumn = {"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiHeights = {".", ":", "-", "=", "+", "*", "%", "#"};
/// Above it there are characters that join with others, that are written from the right to the left, or that
/// are two columns wide.
constexpr char32_t kLastNarrow = 0x2ff;

std::size_t eighths(double share, std::size_t columns) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns * 8)));
}

}  // namespace

std::string bar(std::optional<double> share, std::optional<double> mark, std::size_t width, bool utf8) {
    std::vector<std::string> columns(width, utf8 ? " " : ".");
    const std::size_t filled = eighths(share.value_or(0), width);
    for (std::size_t i = 0; i < width; ++i) {
        if (filled >= (i + 1) * 8)
            columns[i] = utf8 ? kPartsOfColumn.back() : "#";
        else if (filled > i * 8)
            columns[i] = utf8 ? kPartsOfColumn[filled - i * 8 - 1] : filled - i * 8 >= 4 ? "#" : ".";
    }
    if (mark && width > 0) {
        const auto at = static_cast<std::size_t>(std::clamp(*mark, 0.0, 1.0) * static_cast<double>(width));
        columns[std::min(at, width - 1)] = utf8 ? "│" : "|";
    }
    std::string text;
    for (const std::string& column : columns) text += column;
    return text;
}

std::string sparkline(const std::vector<std::optional<double>>& shares, std::size_t width, bool utf8) {
    const std::size_t shown = std::min(width, shares.size());
    std::string text(width - shown, ' ');
    for (std::size_t i = shares.size() - shown; i < shares.size(); ++i) {
        // What is nearly nothing is a blank, so that an idle instance is seen as one.
        const std::size_t height = shares[i] ? eighths(*shares[i], 1) : 0;
        text += height == 0 ? " " : utf8 ? kHeights[height - 1] : kAsciiHeights[height - 1];
    }
    return text;
}

std::string narrow(std::string_view text, bool utf8) {
    std::string out;
    while (!text.empty()) {
        const auto [code, bytes] = model::first_letter(text);
        const bool ascii = code >= 0x20 && code < 0x7f;
        const bool latin = code >= 0xa1 && code <= kLastNarrow && !model::is_hidden(code);
        out += ascii || (latin && utf8) ? text.substr(0, bytes) : "?";
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return out;
}

std::string left(std::string_view text, std::size_t width) {
    std::string shown = cut(text, width);
    shown.append(width - text_width(shown), ' ');
    return shown;
}

std::string right(std::string_view text, std::size_t width) {
    const std::string shown = cut(text, width);
    return std::string(width - text_width(shown), ' ') + shown;
}

}  // namespace cgpu::cgpuctl::top
