#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// The format of a handover: records, each with its kind and size in front, then 64-bit values. A reader
/// skips unknown kinds, takes the known part of longer records, and keeps its own values where a record is
/// shorter; so upgrades work in both directions. Fields are only ever added, at the end of their record.
namespace cgpu::module {

enum class RecordKind : std::uint32_t {
    start = 1,      ///< magic; always the first
    room = 2,       ///< holding kind, how many of it will come
    memory = 3,     ///< GPU, leased, set aside
    changes = 4,    ///< allocations and frees under way, begun so far
    holding = 5,    ///< kind, key, GPU, bytes, context
    functions = 6,  ///< GPU, how many will come, launches since all were doubted
    function = 7,   ///< GPU, function, what is known of it
    compute = 8,    ///< GPU, then fields of GpuCompute, as the following ones of its parts
    gate = 9,
    meter = 10,  ///< GPU, serial of the last batch, fields
    window = 11,
    backlog = 12,
    overlap = 13,
    busy = 14,   ///< GPU, start, end of an interval; oldest first
    batch = 15,  ///< fields; oldest first
    waits = 16,  ///< GPU, fields of LaunchWaits
    estimating = 17,
    sampling = 18,
    filled = 19,  ///< GPU, fields of FilledStreams
    run_up = 20,  ///< GPU, fields of RunUp
};

struct RecordHead {
    RecordKind kind;
    std::uint32_t bytes;  ///< of the values
};
static_assert(sizeof(RecordHead) == 8);

/// Writes records, and also counts what doesn't fit.
class RecordWriter {
  public:
    RecordWriter(void* buffer, std::uint64_t bytes) : at_(static_cast<std::byte*>(buffer)), room_(bytes) {}

    /// Writes the values, then the fields of the parts, as a record of their own.
    template <class... Values>
    void put(RecordKind kind, Values... values) {
        begin(kind);
        ((*this)(values), ...);
        end();
    }
    template <class Part, class... Values>
    void put_fields(RecordKind kind, Part& part, Values... values) {
        begin(kind);
        ((*this)(values), ...);
        part.each_field(*this);
        end();
    }
    template <class Value>
    void operator()(const Value& value) {
        std::uint64_t word = 0;
        if constexpr (std::is_floating_point_v<Value>) {
            word = std::bit_cast<std::uint64_t>(value);
        } else {
            word = static_cast<std::uint64_t>(value);
        }
        put_bytes(&word, sizeof word);
    }
    /// Counts this many further bytes, which needn't be generated, because they don't fit.
    void skip(std::uint64_t bytes) { total_ += bytes; }

    bool fits() const { return total_ <= room_; }
    std::uint64_t total() const { return total_; }

  private:
    void begin(RecordKind kind) {
        head_at_ = total_;
        const RecordHead head{kind, 0};
        put_bytes(&head, sizeof head);
    }
    void end() {
        if (!fits()) return;
        const auto bytes = static_cast<std::uint32_t>(total_ - head_at_ - sizeof(RecordHead));
        std::memcpy(at_ + head_at_ + offsetof(RecordHead, bytes), &bytes, sizeof bytes);
    }
    void put_bytes(const void* from, std::size_t bytes) {
        total_ += bytes;
        if (fits()) std::memcpy(at_ + total_ - bytes, from, bytes);
    }

    std::byte* at_;
    std::uint64_t room_;
    std::uint64_t total_ = 0;
    std::uint64_t head_at_ = 0;
};

/// The values of one record, in order.
class RecordReader {
  public:
    RecordReader(const std::byte* values, std::uint32_t bytes)
        : at_(values), left_(bytes / sizeof(std::uint64_t)) {}

    /// If the record ends before a field, the field keeps its value.
    template <class Field>
    void operator()(Field& field) {
        if (left_ == 0) return;
        std::uint64_t word = 0;
        std::memcpy(&word, at_, sizeof word);
        at_ += sizeof word;
        --left_;
        if constexpr (std::is_floating_point_v<Field>) {
            field = std::bit_cast<Field>(word);
        } else {
            field = static_cast<Field>(word);
        }
    }
    template <class Value>
    Value next() {
        Value value{};
        (*this)(value);
        return value;
    }

  private:
    const std::byte* at_;
    std::uint64_t left_;
};

}  // namespace cgpu::module
