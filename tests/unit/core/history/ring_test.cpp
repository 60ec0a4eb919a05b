#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/history/checksum.hpp"
#include "core/history/fields.hpp"
#include "core/history/ring.hpp"
#include "tests/unit/core/history/records.hpp"

namespace cgpu::history {
namespace {

using File = std::vector<std::byte>;

constexpr std::size_t kPlaces = 8;

/// As cgpud writes it: one record after the other.
void append(File& file, const Record& record) {
    const auto place = place_in_ring(record.number, kPlaces);
    file.resize(std::max<std::size_t>(file.size(), place + kRecordBytes));
    std::ranges::copy(encode(record), file.begin() + static_cast<std::ptrdiff_t>(place));
}

File written(const std::vector<Record>& records) {
    File file = make_ring({}, kPlaces);
    for (const Record& record : records) append(file, record);
    return file;
}

std::vector<Record> newest(const std::vector<Record>& all, std::size_t most) {
    return {all.end() - static_cast<std::ptrdiff_t>(std::min(most, all.size())), all.end()};
}

TEST(HistoryRing, KeepsTheNewestRecords) {
    std::mt19937_64 random(3);
    for (std::size_t count = 0; count < 4 * kPlaces; ++count) {
        const auto records = random_records(random, 1, count);
        const auto reading = read_ring(written(records));
        EXPECT_EQ(reading.kind, RingKind::ring);
        EXPECT_EQ(reading.capacity, kPlaces);
        EXPECT_EQ(reading.damaged, 0U);
        EXPECT_EQ(reading.records, newest(records, kPlaces)) << count;
    }
}

TEST(HistoryRing, MovesToAnotherSize) {
    std::mt19937_64 random(4);
    const auto records = random_records(random, 100, 20);
    for (const std::size_t capacity : {1U, 3U, 20U, 21U, 64U}) {
        auto file = make_ring(records, capacity);
        EXPECT_LE(file.size(), ring_bytes(capacity));
        EXPECT_EQ(read_ring(file).records, newest(records, capacity)) << capacity;
        // The next record takes the place of the oldest one, and of no other.
        const auto next = random_record(random, records.back().number + 1);
        file.resize(ring_bytes(capacity));
        std::ranges::copy(encode(next),
                          file.begin() + static_cast<std::ptrdiff_t>(place_in_ring(next.number, capacity)));
        auto all = records;
        all.push_back(next);
        EXPECT_EQ(read_ring(file).records, newest(all, capacity)) << capacity;
    }
}

/// Of the records those whose places the damage didn't reach.
std::vector<Record> without(const std::vector<Record>& records, const std::set<std::size_t>& places) {
    std::vector<Record> left;
    for (const Record& record : records)
        if (!places.contains((place_in_ring(record.number, kPlaces) - kHeaderBytes) / kRecordBytes))
            left.push_back(record);
    return left;
}

TEST(HistoryRing, LosesOnlyRecordsThatWereHit) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 2000; ++round) {
        const auto records = newest(random_records(random, 1, 1 + random() % (3 * kPlaces)), kPlaces);
        auto file = written(records);
        std::set<std::size_t> hit;
        bool header = false;
        const auto faults = 1 + random() % 4;
        for (std::uint64_t fault = 0; fault < faults; ++fault) {
            const auto at = random() % file.size();
            file[at] ^= static_cast<std::byte>(1 + random() % 255);
            header = header || at < kHeaderBytes;
            if (at >= kHeaderBytes) hit.insert((at - kHeaderBytes) / kRecordBytes);
        }
        const auto reading = read_ring(file);
        // Two faults may undo each other.
        const auto lost = without(records, hit);
        EXPECT_TRUE(std::ranges::includes(reading.records, lost, {}, &Record::number, &Record::number))
            << round;
        for (const Record& record : reading.records)
            EXPECT_EQ(std::ranges::count(records, record), 1) << "nothing is invented, round " << round;
        if (!reading.records.empty() || !header) {
            EXPECT_EQ(reading.kind, RingKind::ring) << round;
        }
    }
}

TEST(HistoryRing, CountsRecordsInWhosePlaceAreZeros) {
    std::mt19937_64 random(8);
    const auto records = random_records(random, 1, kPlaces + 2);
    auto file = written(records);
    const auto wipe = [&](std::uint64_t number) {
        const auto place = static_cast<std::ptrdiff_t>(place_in_ring(number, kPlaces));
        std::fill_n(file.begin() + place, kRecordBytes, std::byte{0});
    };
    wipe(5);
    EXPECT_EQ(read_ring(file).damaged, 1U);
    wipe(7);
    EXPECT_EQ(read_ring(file).damaged, 2U);
    wipe(3);
    EXPECT_EQ(read_ring(file).damaged, 3U) << "the oldest one of a full ring";
}

TEST(HistoryRing, ReadsWhatIsLeftOfATornFile) {
    std::mt19937_64 random(6);
    const auto records = newest(random_records(random, 1, 2 * kPlaces + 3), kPlaces);
    const auto whole = written(records);
    for (std::size_t length = 0; length <= whole.size(); length += 37) {
        std::set<std::size_t> hit;
        for (std::size_t place = 0; place < kPlaces; ++place)
            if (kHeaderBytes + (place + 1) * kRecordBytes > length) hit.insert(place);
        EXPECT_EQ(read_ring(std::span(whole).first(length)).records, without(records, hit)) << length;
    }
}

TEST(HistoryRing, ATornWriteLosesItsOwnPlaceAlone) {
    std::mt19937_64 random(7);
    const auto records = random_records(random, 1, kPlaces);
    const auto before = written(records);
    const auto next = encode(random_record(random, kPlaces + 1));
    for (std::size_t length = 9; length < kRecordBytes; length += 13) {
        auto file = before;
        std::copy_n(next.begin(), length, file.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes));
        const auto reading = read_ring(file);
        const auto left = without(records, {0});
        // Where both agree in the rest, the new record is whole already.
        const auto whole = reading.records.size() == kPlaces;
        EXPECT_EQ(std::vector(reading.records.begin(), reading.records.begin() + kPlaces - 1), left)
            << length;
        if (whole) {
            EXPECT_EQ(encode(reading.records.back()), next) << length;
        }
    }
}

TEST(HistoryRing, TellsFilesApart) {
    EXPECT_EQ(read_ring({}).kind, RingKind::empty);
    EXPECT_EQ(read_ring(File(5000)).kind, RingKind::empty);
    EXPECT_EQ(read_ring(File(5000, std::byte{7})).kind, RingKind::foreign);
    EXPECT_EQ(read_ring(File(10, std::byte{7})).kind, RingKind::foreign);
    EXPECT_EQ(read_ring(make_ring({}, 4)).kind, RingKind::ring);
}

TEST(HistoryRing, OneOfAFormerVersionIsReadAndOneOfALaterIsNot) {
    std::mt19937_64 random(3);
    const auto records = random_records(random, 1, 5);
    for (const auto version : {kRingVersion - 1, kRingVersion + 1}) {
        auto file = make_ring(records, 8);
        Writer header(file);
        header.at(8).number(version);
        header.at(24).number(checksum(std::span(file).first(24)));
        const auto reading = read_ring(file);
        EXPECT_EQ(reading.kind, version < kRingVersion ? RingKind::ring : RingKind::newer);
        EXPECT_EQ(reading.records.size(), version < kRingVersion ? 5U : 0U);
        EXPECT_EQ(reading.former, version < kRingVersion);
    }
}

}  // namespace
}  // namespace cgpu::history
