#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/history/record.hpp"

/// The file that keeps the newest records of a node: a header, and then a fixed number of places, which are
/// written one after the other, and from the first one again when all are full. Until then the file grows.
///
/// Nothing but a record itself says whether it is valid (its checksum) and how old it is (its number). So a
/// file that was torn or damaged anywhere loses the records that were hit, and no others: the header is only
/// read to recognise files of another layout or size.
namespace cgpu::history {

/// It has the width of a record, so that every record is a sector of its own.
constexpr std::size_t kHeaderBytes = kRecordBytes;
/// Another layout, also of the records, needs another number: a former release would take its records for
/// damaged ones, and drop them.
constexpr std::uint32_t kRingVersion = 2;

/// What a file is, by its first bytes.
enum class RingKind {
    empty,    ///< no byte, or zeros only: cgpud was killed while it made the file
    ring,     ///< of this or a former version; its header may be damaged
    newer,    ///< of a later version
    foreign,  ///< something else
};

struct RingReading {
    RingKind kind = RingKind::empty;
    std::vector<Record> records;  ///< by their numbers, the oldest first
    /// Places without a whole record. A file ends with the last place that was written, so zeros in one are a
    /// record that is lost.
    std::size_t damaged = 0;
    std::size_t capacity = 0;  ///< how many places the header says there are; 0: it is damaged
    bool former = false;       ///< of a former version
};

/// Reads a whole file, in whatever state it is. It may be written meanwhile: of a record that is being
/// replaced, neither the old nor the new one is read then.
[[nodiscard]] RingReading read_ring(std::span<const std::byte> file);

/// How many records fit into a file of so many bytes.
[[nodiscard]] constexpr std::size_t ring_capacity(std::uint64_t bytes) {
    return bytes < kHeaderBytes ? 0 : static_cast<std::size_t>((bytes - kHeaderBytes) / kRecordBytes);
}
[[nodiscard]] constexpr std::uint64_t ring_bytes(std::size_t capacity) {
    return kHeaderBytes + std::uint64_t{capacity} * kRecordBytes;
}
/// Where in the file the record with this number is written. `capacity`: not 0.
[[nodiscard]] constexpr std::uint64_t place_in_ring(std::uint64_t number, std::size_t capacity) {
    return kHeaderBytes + (number - 1) % capacity * kRecordBytes;
}

/// The beginning of a file with the newest of these records, as many as it has places for, up to the last
/// place that is not free; `capacity`: not 0. The records are sorted by their numbers, and no two have the
/// same one.
[[nodiscard]] std::vector<std::byte> make_ring(std::span<const Record> records, std::size_t capacity);

}  // namespace cgpu::history
