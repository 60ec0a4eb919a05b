#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/cgpuctl/output/terminal.hpp"

namespace cgpu::cgpuctl {

/// Aligned columns, each as wide as its widest cell, two blanks between them and none at the end of a line.
class Table {
  public:
    explicit Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}

    /// As many cells as there are headings; an empty one is written as `-`.
    void add(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    void print(Terminal& terminal, bool legend) const;

  private:
    /// Of the columns.
    [[nodiscard]] std::vector<std::size_t> widths(bool legend) const;
    [[nodiscard]] static std::string line(const std::vector<std::string>& cells,
                                          const std::vector<std::size_t>& widths);

    std::vector<std::string> heads_;
    std::vector<std::vector<std::string>> rows_;
};

/// Names and their values.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// One line for each: the name with a colon, then the value.
void print_facts(Terminal& terminal, const Facts& facts);

}  // namespace cgpu::cgpuctl
