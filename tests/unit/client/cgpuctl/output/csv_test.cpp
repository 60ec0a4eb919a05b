#include "client/cgpuctl/output/csv.hpp"

#include <gtest/gtest.h>

namespace cgpu::cgpuctl {
namespace {

TEST(CsvCell, PlainTextStays) {
    for (const char* text : {"web", "a b", "größe", "1.5", "a=b", "user@host", "a-1", "x+y", ""})
        EXPECT_EQ(csv_cell(text), text);
}

TEST(CsvCell, ASeparatorOrAQuoteIsQuoted) {
    EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_cell("a;b"), "\"a;b\"");
    EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
    EXPECT_EQ(csv_cell("a\nb"), "a?b") << "a cell is one line";
}

TEST(CsvCell, NothingIsAFormula) {
    EXPECT_EQ(csv_cell("=1+1"), "'=1+1");
    EXPECT_EQ(csv_cell("+1"), "'+1");
    EXPECT_EQ(csv_cell("-1"), "'-1");
    EXPECT_EQ(csv_cell("@SUM(A1)"), "'@SUM(A1)");
    EXPECT_EQ(csv_cell("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
    EXPECT_EQ(csv_cell("  =1"), "'  =1") << "blanks may be taken off";
    EXPECT_EQ(csv_cell("\t=1"), "'?=1");
    EXPECT_EQ(csv_cell("\r=1"), "'?=1");
    EXPECT_EQ(csv_cell("\u200b=1"), "'?=1");
    EXPECT_EQ(csv_cell("＝1"), "'＝1");
    EXPECT_EQ(csv_cell("a\u202e=1"), "a?=1");
}

}  // namespace
}  // namespace cgpu::cgpuctl
