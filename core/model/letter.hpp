#pragma once

#include <cstddef>
#include <string_view>

/// The letters of UTF-8 text, as a terminal shows them.
namespace cgpu::model {

struct Letter {
    char32_t code = 0;
    std::size_t bytes = 0;  ///< 0: the text doesn't begin with UTF-8
};

/// Of a text that isn't empty. What is longer than needed, half of a pair or beyond the last letter is no
/// UTF-8.
[[nodiscard]] Letter first_letter(std::string_view text);

/// Whether a letter has no picture of its own, and changes how others are seen instead: controls, what
/// changes the direction of text, joins or separates letters, begins a line, or isn't seen at all (Unicode's
/// categories Cc, Cf, Zl and Zp, its default ignorable letters, and codes that are no letters).
[[nodiscard]] bool is_hidden(char32_t code);

/// Whether it is drawn over the letter before it (the blocks of marks that go with any letter).
[[nodiscard]] bool is_mark(char32_t code);

/// The columns of a terminal that it takes: 0 of a mark, 2 of those that are as wide as they are high,
/// else 1.
[[nodiscard]] std::size_t columns_of(char32_t code);

}  // namespace cgpu::model
