#include <gtest/gtest.h>

#include "tests/unit/core/history/records.hpp"

namespace cgpu::history {
namespace {

TEST(HistoryRecord, ReadsBackWhatWasWritten) {
    std::mt19937_64 random(1);
    for (std::uint64_t i = 1; i < 500; ++i) {
        const auto record = random_record(random, i);
        const auto read = decode(encode(record));
        ASSERT_TRUE(read) << i;
        EXPECT_EQ(*read, record) << i;
    }
}

TEST(HistoryRecord, HasNoOwnerWhereAnEarlierCgpudWroteIt) {
    // The owner's bytes were 0 then, and root is an owner, too.
    auto record = minute(0, "web", 1);
    EXPECT_EQ(decode(encode(record))->owner, model::Owner{});
    record.owner.user = 0;
    EXPECT_EQ(decode(encode(record))->owner.user, 0U);
    record.instance = std::string(kMostInstanceBytes, 'i');
    record.owner.user = 0xFFFFFFFE;
    EXPECT_EQ(*decode(encode(record)), record) << "it touches no other field";
}

TEST(HistoryRecord, HasADeclaredOwnerBehindAShorterName) {
    auto record = minute(0, std::string(kMostNameBytes, 'n'), 1);
    record.owner.declared = std::string(model::kMaxOwnerName, 'o');
    const auto read = decode(encode(record));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->owner, record.owner);
    EXPECT_EQ(read->name, std::string(kMostNameBesideOwner, 'n'));
}

TEST(HistoryRecord, BillsWhatWasReportedOrGrantedWhicheverIsMore) {
    Record record;
    record.reported_ns = 7;
    record.granted_ns = 5;
    EXPECT_EQ(record.gpu_ns(), 7U);
    record.granted_ns = 9;
    EXPECT_EQ(record.gpu_ns(), 9U);
}

TEST(HistoryRecord, CutsLongTextsBetweenCharacters) {
    auto record = minute(0, "", 1);
    record.instance = std::string(200, 'i');
    record.name = std::string(kMostNameBytes - 1, 'n') + "ä";
    const auto read = decode(encode(record));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->instance, std::string(kMostInstanceBytes, 'i'));
    EXPECT_EQ(read->name, std::string(kMostNameBytes - 1, 'n'));
    record.name = std::string(300, '\x80');
    EXPECT_TRUE(decode(encode(record)));
}

TEST(HistoryRecord, NoFlippedBitGoesUnnoticed) {
    std::mt19937_64 random(2);
    const auto whole = encode(random_record(random, 77));
    for (std::size_t bit = 0; bit < 8 * kRecordBytes; ++bit) {
        auto bytes = whole;
        bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        EXPECT_FALSE(decode(bytes)) << bit;
    }
}

TEST(HistoryRecord, RefusesAnythingElse) {
    EXPECT_FALSE(decode({}));
    const RecordBytes zeros{};
    EXPECT_FALSE(decode(zeros));
    const auto whole = encode(minute(0, "web", 1));
    EXPECT_TRUE(decode(whole));
    EXPECT_FALSE(decode(std::span(whole).first(kRecordBytes - 1)));
    // Whole, but with a number that no cgpud gives.
    auto record = minute(0, "web", 1);
    record.number = 0;
    EXPECT_FALSE(decode(encode(record)));
}

}  // namespace
}  // namespace cgpu::history
