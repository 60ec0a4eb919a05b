#include "client/cgpuctl/top/model/order.hpp"

#include <gtest/gtest.h>

namespace cgpu::cgpuctl::top {
namespace {

InstanceRow row_named(const std::string& name) {
    InstanceRow row;
    row.name = name;
    row.place.instance = "id-of-" + name;
    return row;
}

std::string names_of(const std::vector<InstanceRow>& rows) {
    std::string names;
    for (const InstanceRow& row : rows) names += row.name;
    return names;
}

/// b and a on GPU 0, c on GPU 1, d without any figure.
class TopOrder : public testing::Test {
  protected:
    TopOrder() {
        for (const char* name : {"b", "a", "c", "d"}) rows_.push_back(row_named(name));
        rows_[2].gpu_index = 1;
        rows_[3].gpu_index = 2;
        rows_[0].got = 0.25;
        rows_[1].got = 0.5;
        rows_[2].got = 0.5;
        rows_[0].due = 0.5;
        rows_[2].waiting = 1;
        rows_[1].weight = 3;
        rows_[3].memory_used = 1;
    }
    std::string sorted(SortBy column) {
        auto rows = rows_;
        sort(rows, column);
        return names_of(rows);
    }
    std::vector<InstanceRow> rows_;
};

TEST_F(TopOrder, LargestFirstAndEqualOnesStay) {
    EXPECT_EQ(sorted(SortBy::gpu), "bacd");
    EXPECT_EQ(sorted(SortBy::name), "abcd");
    EXPECT_EQ(sorted(SortBy::weight), "abcd");
    EXPECT_EQ(sorted(SortBy::due), "bacd");
    EXPECT_EQ(sorted(SortBy::got), "acbd");
    EXPECT_EQ(sorted(SortBy::waiting), "cbad");
    EXPECT_EQ(sorted(SortBy::memory), "dbac");
}

TEST_F(TopOrder, ColumnsGoAroundInBothDirections) {
    EXPECT_EQ(next_of(SortBy::gpu, 1), SortBy::name);
    EXPECT_EQ(next_of(SortBy::memory, 1), SortBy::gpu);
    EXPECT_EQ(next_of(SortBy::gpu, -1), SortBy::memory);
}

TEST_F(TopOrder, FilteredByNameInAnyCaseAndByIdFromItsBegin) {
    const auto filtered = [](const std::string& text) {
        std::vector<InstanceRow> rows = {row_named("Train-1"), row_named("web"), row_named("train-2")};
        filter(rows, text);
        return names_of(rows);
    };
    EXPECT_EQ(filtered(""), "Train-1webtrain-2");
    EXPECT_EQ(filtered("TRAIN"), "Train-1train-2");
    EXPECT_EQ(filtered("id-of-w"), "web");
    EXPECT_EQ(filtered("of-w"), "");
    EXPECT_EQ(filtered("nothing"), "");
}

}  // namespace
}  // namespace cgpu::cgpuctl::top
