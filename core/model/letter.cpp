#include "core/model/letter.hpp"

#include <algorithm>
#include <array>

namespace cgpu::model {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

// By Unicode 15. Each table is in order.
constexpr std::array kHidden = {
    Range{0x0000, 0x001f},    // controls
    Range{0x007f, 0x009f},    // delete, and the second set of controls
    Range{0x00ad, 0x00ad},    // soft hyphen
    Range{0x034f, 0x034f},    // grapheme joiner
    Range{0x0600, 0x0605},    // Arabic number signs, which enclose what follows
    Range{0x061c, 0x061c},    // Arabic letter mark
    Range{0x06dd, 0x06dd},    // end of ayah
    Range{0x070f, 0x070f},    // Syriac abbreviation
    Range{0x0890, 0x0891},    // Arabic currency marks above
    Range{0x08e2, 0x08e2},    // disputed end of ayah
    Range{0x115f, 0x1160},    // Hangul fillers
    Range{0x17b4, 0x17b5},    // Khmer inherent vowels
    Range{0x180b, 0x180f},    // Mongolian selectors and vowel separator
    Range{0x200b, 0x200f},    // zero width space and joiners, direction marks
    Range{0x2028, 0x202e},    // separators of lines and paragraphs; embeddings and overrides of direction
    Range{0x2060, 0x206f},    // word joiner, invisible operators, isolates of direction
    Range{0x3164, 0x3164},    // Hangul filler
    Range{0xd800, 0xdfff},    // halves of pairs
    Range{0xfdd0, 0xfdef},    // no letters
    Range{0xfe00, 0xfe0f},    // variation selectors
    Range{0xfeff, 0xfeff},    // zero width no-break space
    Range{0xffa0, 0xffa0},    // halfwidth Hangul filler
    Range{0xfff0, 0xfffb},    // annotations of other text
    Range{0x110bd, 0x110bd},  // Kaithi number signs
    Range{0x110cd, 0x110cd}, Range{0x13430, 0x1343f},  // joiners of hieroglyphs
    Range{0x1bca0, 0x1bca3},                           // controls of shorthand
    Range{0x1d173, 0x1d17a},                           // controls of music
    Range{0xe0000, 0xe0fff},                           // tags, and more variation selectors
};
constexpr std::array kMarks = {
    Range{0x0300, 0x036f}, Range{0x0483, 0x0489}, Range{0x1ab0, 0x1aff},
    Range{0x1dc0, 0x1dff}, Range{0x20d0, 0x20ff}, Range{0xfe20, 0xfe2f},
};
constexpr std::array kWide = {
    Range{0x1100, 0x115e},   Range{0x2e80, 0x303e},   Range{0x3041, 0xa4cf},   Range{0xa960, 0xa97f},
    Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},   Range{0xfe10, 0xfe19},   Range{0xfe30, 0xfe6f},
    Range{0xff01, 0xff60},   Range{0xffe0, 0xffe6},   Range{0x16fe0, 0x18cff}, Range{0x1b000, 0x1b2ff},
    Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1f6ff}, Range{0x1f900, 0x1f9ff}, Range{0x1fa70, 0x1faff},
    Range{0x20000, 0x3fffd},
};

template <std::size_t N>
bool is_among(const std::array<Range, N>& ranges, char32_t code) {
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), code,
                                        [](char32_t each, const Range& range) { return each < range.first; });
    return after != ranges.begin() && code <= std::prev(after)->last;
}

}  // namespace

Letter first_letter(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || bytes > text.size()) return {};
    char32_t code = lead & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0U) != 0x80U) return {};
        code = (code << 6U) | (next & 0x3fU);
    }
    const bool wrong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000) ||
                       (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff;
    return wrong ? Letter{} : Letter{code, bytes};
}

bool is_hidden(char32_t code) {
    return code > 0x10ffff || (code & 0xfffeU) == 0xfffe || is_among(kHidden, code);
}

bool is_mark(char32_t code) { return is_among(kMarks, code); }

std::size_t columns_of(char32_t code) {
    if (is_mark(code)) return 0;
    return is_among(kWide, code) ? 2 : 1;
}

}  // namespace cgpu::model
