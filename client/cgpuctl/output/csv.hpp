#pragma once

#include <string>
#include <string_view>

namespace cgpu::cgpuctl {

/// Text as a cell of CSV: printable, in double quotes if it has a separator or a quote, and with `'` in front
/// of what a spreadsheet would take for a formula (`=`, `+`, `-`, `@`, also after blanks, and their wide
/// forms). Only for text of others: a number such as -1 needs no such cell.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace cgpu::cgpuctl
