#include <gtest/gtest.h>

#include "core/history/checksum.hpp"
#include "core/history/fields.hpp"
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

/// As releases before the memory over the time wrote it: the texts had places.
RecordBytes former(const Record& record, bool declared) {
    RecordBytes bytes{};
    Writer out(bytes);
    out.number(declared ? std::uint32_t{0x32486763} : std::uint32_t{0x31486763});
    out.number(std::uint32_t{0});
    for (const auto figure :
         {record.number, record.begin_us, record.duration_us, record.reported_ns, record.granted_ns,
          record.due_ns, record.waited_ns, record.launches, record.refused, record.memory_limit,
          record.memory_peak, std::uint64_t{1U | (record.owner.user ? 4U : 0U)}})
        out.number(figure);
    out.number(record.gpu_index);
    out.raw(record.gpu.raw());
    out.number(record.owner.user.value_or(0));
    out.at(128).text(record.instance);
    out.at(256).text(record.name);
    if (declared) out.at(447).text(record.owner.declared);
    out.at(4).number(checksum(std::span(bytes).subspan(8)));
    return bytes;
}

TEST(HistoryRecord, ReadsThoseOfFormerReleases) {
    auto record = minute(0, "web", 1);
    record.memory_limit = std::uint64_t{3} << 30U;
    auto read = decode(former(record, false));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->memory_granted, 3U * 1024 * 60'000) << "the limit that it had at the end, all the time";
    record.memory_granted = read->memory_granted;
    EXPECT_EQ(*read, record);
    // The owner's bytes were 0 before there were owners, and root is one, too.
    EXPECT_EQ(read->owner, model::Owner{});
    record.owner.user = 0;
    EXPECT_EQ(*decode(former(record, false)), record);
    record.owner = {std::nullopt, std::string(model::kMaxOwnerName, 'o')};
    record.name = std::string(190, 'n');
    record.instance = std::string(kMostInstanceBytes, 'i');
    EXPECT_EQ(*decode(former(record, true)), record);
}

TEST(HistoryRecord, HasAllTextsButTheEndOfALongName) {
    auto record = minute(0, std::string(kMostNameBytes, 'n'), 1);
    record.instance = std::string(64, 'i');
    EXPECT_EQ(*decode(encode(record)), record);
    record.instance = std::string(kMostInstanceBytes, 'i');
    record.owner.declared = std::string(model::kMaxOwnerName, 'o');
    const auto read = decode(encode(record));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->owner, record.owner);
    EXPECT_EQ(read->instance, record.instance);
    EXPECT_EQ(read->name, record.name.substr(0, most_name_bytes(kMostInstanceBytes, model::kMaxOwnerName)));
    EXPECT_GT(read->name.size(), 100U);
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
    const auto most = most_name_bytes(kMostInstanceBytes, 0);
    record.name = std::string(most - 1, 'n') + "ä";
    const auto read = decode(encode(record));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->instance, std::string(kMostInstanceBytes, 'i'));
    EXPECT_EQ(read->name, std::string(most - 1, 'n'));
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
