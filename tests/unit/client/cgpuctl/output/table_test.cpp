#include "client/cgpuctl/output/table.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace cgpu::cgpuctl {
namespace {

std::string printed(const Table& table, bool legend, Terminal::Style style = {}) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal(out, err, style);
    table.print(terminal, legend);
    return out.str();
}

TEST(Table, IsAsWideAsItsWidestCells) {
    Table table({"A", "LONGER", "C"});
    table.add({"1234", "x", "y"});
    table.add({"1", "größe", "z"});
    EXPECT_EQ(printed(table, true),
              "A     LONGER  C\n"
              "1234  x       y\n"
              "1     größe   z\n");
}

TEST(Table, WithoutHeadsTheyTakeNoRoom) {
    Table table({"LONG HEAD", "B"});
    table.add({"1", "2"});
    EXPECT_EQ(printed(table, false), "1  2\n");
}

TEST(Table, EmptyCellsAreDashes) {
    Table table({"A", "B"});
    table.add({"", ""});
    EXPECT_EQ(printed(table, false), "-  -\n");
}

TEST(Table, ForeignTextCantDrawOnTheTerminal) {
    Table table({"A"});
    table.add({"x\033[31m\ny"});
    EXPECT_EQ(printed(table, false), "x?[31m?y\n");
}

TEST(Table, HeadsAreBoldWhereColourIsWanted) {
    Table table({"A"});
    table.add({"1"});
    EXPECT_EQ(printed(table, true, {.color_out = true}), "\033[1mA\033[0m\n1\n");
}

}  // namespace
}  // namespace cgpu::cgpuctl
