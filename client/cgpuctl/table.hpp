#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/terminal.hpp"

namespace cgpu::cgpuctl {

/// Aligned columns, each as wide as its widest cell, two blanks between them and none at the end of a line.
class Table {
  public:
    explicit Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}

    /// As many cells as there are heads; an empty one is written as `-`.
    void add(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    void print(Terminal& terminal, bool legend) const;

  private:
    [[nodiscard]] std::string line(const std::vector<std::string>& cells, bool legend) const;

    std::vector<std::string> heads_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace cgpu::cgpuctl
