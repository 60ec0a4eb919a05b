#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// Text as it is put on a screen, without a terminal.
namespace cgpu::cgpuctl::top {

enum class Style { plain, heading, title, selected, good, warning, bad, faint };

struct Span {
    std::string text;  ///< UTF-8; every code point is one column wide
    Style style = Style::plain;

    friend bool operator==(const Span&, const Span&) = default;
};

using Line = std::vector<Span>;

struct Size {
    std::size_t width = 80;
    std::size_t height = 24;

    friend bool operator==(const Size&, const Size&) = default;
};

/// The text of a line without its styles.
[[nodiscard]] std::string text_of(const Line& line);

}  // namespace cgpu::cgpuctl::top
