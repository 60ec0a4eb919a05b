#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "core/history/series.hpp"
#include "tests/unit/core/history/records.hpp"

namespace cgpu::history {
namespace {

std::vector<Total> by_name(const std::vector<Record>& records, const Span& span) {
    return totals(records, span, {By::name}, utc_day);
}

Span seconds(std::uint64_t from, std::uint64_t to) { return {from * kSecondUs, to * kSecondUs}; }

TEST(HistoryTotals, SumsByName) {
    auto more = minute(60, "web", 30);
    more.instance = "another";
    more.memory_peak = 500;
    more.refused = 3;
    const std::vector records = {minute(0, "web", 6), minute(0, "train", 54), more};
    const auto rows = by_name(records, seconds(0, 120));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].keys[0], "train");
    EXPECT_EQ(rows[1].keys[0], "web");
    EXPECT_EQ(rows[1].instances, 2U);
    EXPECT_EQ(rows[1].gpu_ns, 36 * kSecondNs);
    EXPECT_EQ(rows[1].refused, 3U);
    EXPECT_EQ(rows[1].memory_peak, 500U);
    EXPECT_DOUBLE_EQ(*rows[1].share_got(), 0.3);
    EXPECT_DOUBLE_EQ(*rows[1].share_due(), 0.5);
    EXPECT_EQ(rows[0].covered_us, 60 * kSecondUs);
}

TEST(HistoryTotals, KeepsInstancesOfOneNameApartByTheirOwners) {
    auto of_bob = minute(0, "web", 1);
    of_bob.owner.user = 2002;
    auto of_alice = minute(0, "web", 6);
    of_alice.owner.user = 2001;
    of_alice.instance = "another";
    const std::vector records = {of_bob, of_alice, minute(60, "web", 3)};
    const auto rows = by_name(records, seconds(0, 120));
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].owner.user, 2001U);
    EXPECT_EQ(rows[0].gpu_ns, 6 * kSecondNs);
    EXPECT_EQ(rows[1].owner, model::Owner{});
    EXPECT_EQ(rows[2].owner.user, 2002U);
    EXPECT_EQ(rows[2].gpu_ns, 1 * kSecondNs);
    const auto parts = series(records, seconds(0, 120), By::name, utc_day, 2);
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[2].owner.user, 2002U);
    EXPECT_DOUBLE_EQ(parts[2].gpu_s[0], 1);
    EXPECT_EQ(totals(records, seconds(0, 120), {By::gpu}, utc_day).size(), 1U);
}

TEST(HistoryTotals, HaveARowForEachOwnerVerifiedOrDeclared) {
    auto of_alice = minute(0, "web", 6);
    of_alice.owner.user = 2001;
    auto another = minute(60, "train", 2);
    another.owner.user = 2001;
    auto claimed = minute(0, "web", 1);
    claimed.owner.declared = "alice";
    const std::vector records = {of_alice, another, claimed, minute(60, "web", 3)};
    const auto rows = totals(records, seconds(0, 120), {By::user}, utc_day);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].keys[0], "2001");
    EXPECT_EQ(rows[0].gpu_ns, 8 * kSecondNs);
    EXPECT_EQ(rows[1].owner, model::Owner{});
    EXPECT_EQ(rows[2].owner.declared, "alice");
}

TEST(HistoryTotals, AddsTheSharesOfInstancesThatWereThereTogether) {
    auto other = minute(0, "web", 12);
    other.instance = "another";
    const auto rows = by_name({minute(0, "web", 18), other}, seconds(0, 60));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_DOUBLE_EQ(*rows[0].share_got(), 0.5);
    // On two GPUs it had half of each.
    other.gpu = gpu_of(1);
    const auto spread = by_name({minute(0, "web", 30), other}, seconds(0, 60));
    EXPECT_DOUBLE_EQ(*spread[0].share_got(), 42.0 / 120);
}

TEST(HistoryTotals, TakesTheLargerFigureOfEachRecord) {
    auto liar = minute(0, "liar", 1);
    liar.granted_ns = 20 * kSecondNs;
    auto honest = minute(60, "liar", 30);
    honest.granted_ns = 29 * kSecondNs;
    const auto rows = by_name({liar, honest}, seconds(0, 120));
    EXPECT_EQ(rows[0].gpu_ns, 50 * kSecondNs);
    EXPECT_EQ(rows[0].reported_ns, 31 * kSecondNs);
    EXPECT_EQ(rows[0].granted_ns, 49 * kSecondNs);
}

TEST(HistoryTotals, NamelessInstancesHaveTheBeginningOfTheirIds) {
    auto record = minute(0, "", 1);
    record.instance = "0123456789abcdef";
    EXPECT_EQ(by_name({record}, seconds(0, 60))[0].keys[0], "0123456789ab");
}

TEST(HistoryTotals, SharesAreUnknownWhereTheDriverDivided) {
    auto record = minute(0, "web", 0);
    record.measured = false;
    const auto rows = by_name({record}, seconds(0, 60));
    EXPECT_FALSE(rows[0].share_got());
    EXPECT_FALSE(rows[0].share_due());
}

TEST(HistoryTotals, ByGpuGoesByTheUuidAndShowsTheIndex) {
    auto moved = minute(60, "web", 3);
    moved.gpu_index = 4;
    auto other = minute(0, "web", 5);
    other.gpu = gpu_of(1);
    other.gpu_index = 1;
    const auto rows =
        totals(std::vector{minute(0, "web", 2), moved, other}, seconds(0, 120), {By::gpu}, utc_day);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].keys[0], "1");
    EXPECT_EQ(rows[1].keys[0], "4");
    EXPECT_EQ(rows[1].gpu, gpu_of(0).to_string());
    EXPECT_EQ(rows[1].gpu_ns, 5 * kSecondNs);
}

TEST(HistoryTotals, ByDay) {
    const std::vector records = {minute(86'400ULL * 3 + 60, "web", 2), minute(60, "web", 1),
                                 minute(120, "a", 4)};
    const auto rows = totals(records, seconds(0, 86'400ULL * 9), {By::day}, utc_day);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].keys[0], "day 0");
    EXPECT_EQ(rows[0].gpu_ns, 5 * kSecondNs);
    EXPECT_EQ(rows[0].instances, 2U);
    EXPECT_EQ(rows[1].keys[0], "day 3");
}

TEST(HistoryTotals, ReportsOfAdjoiningTimesMakeUpTheWhole) {
    std::mt19937_64 random(8);
    for (int round = 0; round < 200; ++round) {
        std::vector<Record> records;
        for (std::uint64_t i = 0; i < 20; ++i)
            records.push_back(
                minute(random() % 600, random() % 2 == 0 ? "a" : "b", static_cast<double>(random() % 60)));
        const auto cut = random() % 700;
        std::map<std::string, double> whole;
        std::map<std::string, double> parts;
        const auto add = [&](std::map<std::string, double>& sums, const Span& span) {
            for (const auto& row : by_name(records, span))
                sums[row.keys[0]] += static_cast<double>(row.gpu_ns) / 1e9;
        };
        add(whole, seconds(0, 700));
        add(parts, seconds(0, cut));
        add(parts, seconds(cut, 700));
        for (const auto& [key, sum] : whole) EXPECT_NEAR(sum, parts[key], 1e-6) << round;
    }
}

TEST(HistoryTotals, ARecordWithoutDurationCountsWhole) {
    auto record = minute(10, "web", 2);
    record.duration_us = 0;
    EXPECT_EQ(by_name({record}, seconds(0, 60))[0].gpu_ns, 2 * kSecondNs);
    EXPECT_TRUE(by_name({record}, seconds(20, 60)).empty());
}

TEST(HistorySeries, HasTheSameTimeAsTheTotals) {
    std::mt19937_64 random(9);
    for (int round = 0; round < 100; ++round) {
        std::vector<Record> records;
        for (std::uint64_t i = 0; i < 20; ++i) {
            records.push_back(
                minute(random() % 900, random() % 2 == 0 ? "a" : "b", static_cast<double>(random() % 60)));
            records.back().duration_us = (1 + random() % 300) * kSecondUs;
        }
        const auto span = seconds(100 + random() % 100, 500 + random() % 300);
        const auto rows = by_name(records, span);
        const auto all = series(records, span, By::name, utc_day, 1 + random() % 50);
        ASSERT_EQ(all.size(), rows.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(all[i].key, rows[i].keys[0]);
            EXPECT_NEAR(std::accumulate(all[i].gpu_s.begin(), all[i].gpu_s.end(), 0.0),
                        static_cast<double>(rows[i].gpu_ns) / 1e9, 1e-5);
            EXPECT_NEAR(std::accumulate(all[i].due_s.begin(), all[i].due_s.end(), 0.0),
                        static_cast<double>(rows[i].due_ns) / 1e9, 1e-5);
        }
    }
}

TEST(HistorySeries, PutsTimeIntoItsPart) {
    const auto all = series(std::vector{minute(60, "web", 30)}, seconds(0, 180), By::name, utc_day, 3);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].gpu_s, (std::vector<double>{0, 30, 0}));
}

}  // namespace
}  // namespace cgpu::history
