#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/nanos.hpp"

/// The records of a trace of one GPU, as cgpud writes them to the descriptor that Gpu.StartTrace returns.
///
/// Each record is complete by itself: a span is written when it ends. So a lost record loses one span, and
/// a trace that breaks off is readable up to there. The stream is these records, one after the other, in the
/// machine's byte order (both ends are on one machine):
///
// clang-format off
///     u32  bytes    length of the whole record, this field included
///     u16  kind     trace::Kind
///     u16  track    the instance; 0: the GPU itself
///     i64  begin    CLOCK_MONOTONIC nanoseconds
///     i64  end      the same as begin: it happened at one moment
///     i64  values   4 of them, see Kind
///     …    text     the rest, UTF-8 by intention; names are as users chose them
// clang-format on
namespace cgpu::trace {

using model::Nanos;

/// What a record tells, and what its values are. A reader skips kinds that it doesn't know.
enum class Kind : std::uint16_t {
    /// The first record. Wall clock at `begin`, microseconds since 1970 · the GPU's index · the version of
    /// this format (kFormat). Text: UUID, model, name of the policy, a line each.
    start = 1,
    /// An instance has a track from here on. Weight · 1: high priority. Text: id, name, a line each.
    instance = 2,
    /// It has ended; its track isn't used any more.
    left = 3,
    /// A turn of the instance, from the opening of its gate to the hand-over. GPU time that its processes
    /// have measured since its last turn · when the gate closed and the drain began (0: it didn't) ·
    /// kPriority | kContended | kUnfinished.
    turn = 4,
    /// Launches of the instance waited while its gate was closed. Time that its threads waited meanwhile, at
    /// the gate or for room in the window, all together.
    wait = 5,
    /// Its gate was open outside a turn of its own. 1: not divided, as under the policy native.
    open = 6,
    /// GPU time that the instance's processes have measured of batches which finished: nanoseconds · launches
    /// let through since the last such record · estimate of the work in flight now, nanoseconds. Its length
    /// is that time, unless several processes measured at once. The end is when it was read, or later: the
    /// work itself was some milliseconds earlier.
    work = 7,
    /// Memory, when it changed. Bytes used · granted to its processes · its limit.
    memory = 8,
    /// Allocations of the instance were refused. How many since the last such record.
    refused = 9,
    /// An event of cgpud. Text: its type, and its line of the log, a line each.
    event = 10,
    /// Records were lost here, because the reader was too slow. How many.
    dropped = 11,
    /// The last record. Begin and end are the trace's. Time that cgpud's slicer spent on the trace,
    /// nanoseconds · records written, this one included · records dropped · time that the rest of cgpud spent
    /// on it.
    end = 12,
};

/// The version of this format.
constexpr std::int64_t kFormat = 1;

/// How a turn was, of Kind::turn.
constexpr std::int64_t kPriority = 1;    ///< of an instance with high priority, beside the policy
constexpr std::int64_t kContended = 2;   ///< others wanted the GPU
constexpr std::int64_t kUnfinished = 4;  ///< it went on when the trace ended

struct Record {
    Kind kind = Kind::start;
    std::uint16_t track = 0;
    Nanos begin = 0;
    Nanos end = 0;
    std::array<std::int64_t, 4> values{};
    std::string text{};

    friend bool operator==(const Record&, const Record&) = default;
};

/// The bytes of a record without its text.
constexpr std::size_t kFixedBytes = 56;
/// Longer text is cut.
constexpr std::size_t kMostText = 1000;

/// Appends the record's bytes.
void encode(const Record& record, std::vector<std::byte>& out);

/// The first record of a stream.
struct Decoded {
    Record record;
    std::size_t bytes = 0;  ///< its length; 0: it isn't there as a whole yet
    bool broken = false;    ///< no record can have this length: the rest can't be read
};
[[nodiscard]] Decoded decode(std::span<const std::byte> stream);

}  // namespace cgpu::trace
