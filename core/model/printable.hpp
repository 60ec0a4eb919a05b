#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text of others, such as the names of their jobs, for a terminal, a table or a label. quote() is for
/// messages.
namespace cgpu::model {

/// UTF-8 in which each letter is seen as what it is: `?` stands for each hidden letter (is_hidden), for each
/// byte that isn't UTF-8, and for marks after the second one that are to be drawn over one letter.
[[nodiscard]] std::string printable(std::string_view text);

/// The columns of a terminal that the text takes; a byte that isn't UTF-8 counts as one.
[[nodiscard]] std::size_t text_width(std::string_view text);
/// As many of its letters as fit into these columns.
[[nodiscard]] std::string cut(std::string_view text, std::size_t width);
/// The text, or what fits of it with `…` behind it.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

}  // namespace cgpu::model
