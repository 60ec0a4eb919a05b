#include "client/cgpuctl/output/table.hpp"

#include <algorithm>

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

void Table::add(std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = cell.empty() ? "-" : printable(cell);
    cells.resize(heads_.size(), "-");
    rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(bool legend) const {
    std::vector<std::size_t> widths(heads_.size(), 0);
    for (std::size_t column = 0; column < heads_.size(); ++column) {
        if (legend) widths[column] = text_width(heads_[column]);
        for (const auto& row : rows_) widths[column] = std::max(widths[column], text_width(row[column]));
    }
    return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
    std::string text;
    for (std::size_t column = 0; column < cells.size(); ++column) {
        text += cells[column];
        if (column + 1 < cells.size()) text.append(widths[column] - text_width(cells[column]) + kGap, ' ');
    }
    return text;
}

void Table::print(Terminal& terminal, bool legend) const {
    const auto all = widths(legend);
    if (legend) terminal.heading(line(heads_, all));
    for (const auto& row : rows_) terminal.out() << line(row, all) << '\n';
}

void print_facts(Terminal& terminal, const Facts& facts) {
    Table table({"", ""});
    for (const auto& [name, value] : facts) table.add({name + ":", value});
    table.print(terminal, false);
}

}  // namespace cgpu::cgpuctl
