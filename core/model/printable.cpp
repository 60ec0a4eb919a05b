#include "core/model/printable.hpp"

#include <algorithm>

#include "core/model/letter.hpp"

namespace cgpu::model {
namespace {

/// As many as letters of living languages have.
constexpr std::size_t kMostMarks = 2;

std::size_t bytes_of(const Letter& letter) { return std::max<std::size_t>(letter.bytes, 1); }

std::size_t width_of(const Letter& letter) { return letter.bytes == 0 ? 1 : columns_of(letter.code); }

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    std::size_t marks = kMostMarks;  // none belong to what stands before the text
    while (!text.empty()) {
        const Letter letter = first_letter(text);
        const bool good = letter.bytes > 0 && !is_hidden(letter.code);
        const bool mark = good && is_mark(letter.code);
        if (good && !(mark && marks == kMostMarks))
            out += text.substr(0, letter.bytes);
        else
            out += '?';
        marks = mark ? std::min(marks + 1, kMostMarks) : 0;
        text.remove_prefix(bytes_of(letter));
    }
    return out;
}

std::size_t text_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const Letter letter = first_letter(text);
        width += width_of(letter);
        text.remove_prefix(bytes_of(letter));
    }
    return width;
}

std::string cut(std::string_view text, std::size_t width) {
    std::size_t taken = 0;
    while (taken < text.size()) {
        const Letter letter = first_letter(text.substr(taken));
        const std::size_t columns = width_of(letter);
        if (columns > width) break;
        width -= columns;
        taken += bytes_of(letter);
    }
    return std::string(text.substr(0, taken));
}

std::string shortened(std::string_view text, std::size_t width) {
    if (text_width(text) <= width) return std::string(text);
    return width == 0 ? std::string() : cut(text, width - 1) + "…";
}

}  // namespace cgpu::model
