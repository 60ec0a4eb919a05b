#include "core/history/ring.hpp"

#include <algorithm>

#include "core/history/checksum.hpp"
#include "core/history/fields.hpp"

namespace cgpu::history {
namespace {

constexpr std::uint64_t kMagic = 0x7473696875706763;  // "cgpuhist"

bool is_free(std::span<const std::byte> place) {
    return std::ranges::all_of(place, [](std::byte byte) { return byte == std::byte{0}; });
}

/// What the checksum of the header is of: magic, version, width of a record, and number of places.
constexpr std::size_t kCheckedOfHeader = 24;

RecordBytes header(std::size_t capacity) {
    RecordBytes bytes{};
    Writer out(bytes);
    out.number(kMagic);
    out.number(kRingVersion);
    out.number(static_cast<std::uint32_t>(kRecordBytes));
    out.number(std::uint64_t{capacity});
    out.number(checksum(std::span(bytes).first(kCheckedOfHeader)));
    return bytes;
}

/// What the header alone says.
void read_header(std::span<const std::byte> file, RingReading& reading) {
    reading.kind = is_free(file) ? RingKind::empty : RingKind::foreign;
    if (file.size() < kHeaderBytes) return;
    Reader in(file);
    std::uint64_t magic = 0;
    std::uint32_t version = 0;
    std::uint32_t width = 0;
    std::uint64_t capacity = 0;
    std::uint32_t sum = 0;
    in.number(magic);
    in.number(version);
    in.number(width);
    in.number(capacity);
    in.number(sum);
    if (magic != kMagic || sum != checksum(file.first(kCheckedOfHeader))) return;
    if (version > kRingVersion) reading.kind = RingKind::newer;
    if (version > kRingVersion || width != kRecordBytes) return;
    reading.kind = RingKind::ring;
    reading.capacity = capacity;
    reading.former = version < kRingVersion;
}

}  // namespace

RingReading read_ring(std::span<const std::byte> file) {
    RingReading reading;
    read_header(file, reading);
    if (reading.kind == RingKind::newer) return reading;
    for (std::size_t at = kHeaderBytes; at < file.size(); at += kRecordBytes) {
        const auto place = file.subspan(at, std::min(kRecordBytes, file.size() - at));
        auto record = place.size() == kRecordBytes ? decode(place) : std::nullopt;
        if (record)
            reading.records.push_back(std::move(*record));
        else
            ++reading.damaged;
    }
    // A damaged header before good records.
    if (!reading.records.empty()) reading.kind = RingKind::ring;
    // Places of a foreign file aren't damaged ones.
    if (reading.kind != RingKind::ring) reading.damaged = 0;
    std::ranges::stable_sort(reading.records, {}, &Record::number);
    const auto twice = std::unique(reading.records.begin(), reading.records.end(),
                                   [](const Record& a, const Record& b) { return a.number == b.number; });
    reading.records.erase(twice, reading.records.end());
    return reading;
}

std::vector<std::byte> make_ring(std::span<const Record> records, std::size_t capacity) {
    std::vector<std::byte> file(kHeaderBytes);
    std::ranges::copy(header(capacity), file.begin());
    const auto newest = records.size() > capacity ? records.last(capacity) : records;
    for (const Record& record : newest) {
        const auto place = static_cast<std::size_t>(place_in_ring(record.number, capacity));
        file.resize(std::max(file.size(), place + kRecordBytes));
        std::ranges::copy(encode(record), file.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return file;
}

}  // namespace cgpu::history
