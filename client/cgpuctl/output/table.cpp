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

std::string Table::line(const std::vector<std::string>& cells, bool legend) const {
    std::string text;
    for (std::size_t column = 0; column < cells.size(); ++column) {
        std::size_t width = legend ? text_width(heads_[column]) : 0;
        for (const auto& row : rows_) width = std::max(width, text_width(row[column]));
        text += cells[column];
        if (column + 1 < cells.size()) text.append(width - text_width(cells[column]) + kGap, ' ');
    }
    return text;
}

void Table::print(Terminal& terminal, bool legend) const {
    if (legend) terminal.heading(line(heads_, legend));
    for (const auto& row : rows_) terminal.out() << line(row, legend) << '\n';
}

void print_facts(Terminal& terminal, const Facts& facts) {
    Table table({"", ""});
    for (const auto& [name, value] : facts) table.add({name + ":", value});
    table.print(terminal, false);
}

}  // namespace cgpu::cgpuctl
