#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/record.hpp"

namespace cgpu::trace {

/// Records between the one who makes them and the one who writes them out. It is bounded: what comes while it
/// is full is dropped, and counted. The first record after that says how many were lost, and when. No lock:
/// its owner has one.
class Buffer {
  public:
    /// `most`: records; at least 2. The memory for them is taken now, so put() never allocates more than a
    /// record's text.
    explicit Buffer(std::size_t most);

    void put(Record record);
    /// The last record, which is never dropped.
    void put_last(Record record);
    /// All records, in the order in which they came. `empty` takes its place, and should have kept its memory
    /// from an earlier call: then the exchange costs nothing.
    void take(std::vector<Record>& empty);

    /// How many were taken in so far, those that tell of dropped ones included.
    [[nodiscard]] std::uint64_t records() const { return records_; }
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  private:
    void tell_of_dropped(Nanos now);

    std::size_t most_;
    std::vector<Record> held_;
    std::uint64_t records_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t told_ = 0;  ///< of dropped_
    Nanos lost_at_ = 0;       ///< when the first of those was lost that were not told of
};

}  // namespace cgpu::trace
