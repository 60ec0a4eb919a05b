#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/history/record.hpp"

namespace cgpu::history {

/// Microseconds since 1970.
struct Span {
    std::uint64_t from_us = 0;
    std::uint64_t to_us = 0;  ///< not included
};

/// What the rows of a report are.
enum class By {
    name,  ///< of instances of one owner; one without a name has the beginning of its id
    gpu,   ///< its index
    day,
    user,  ///< whose the instances are
};

/// What a row is of: of several, one of each. Not empty, and none is there twice.
using Dimensions = std::vector<By>;

/// The day of a moment (microseconds since 1970), in the reader's time zone.
using DayOf = std::function<std::string(std::uint64_t)>;

/// Sums of the records of one name and owner, of one owner, of one GPU, of one day, or of one of each of some
/// of these.
struct Total {
    std::vector<std::string> keys;     ///< of the dimensions, in their order
    std::string gpu;                   ///< of a row of one GPU: its UUID; empty: of none
    model::Owner owner = {};           ///< of a row of one name or user
    std::size_t instances = 0;         ///< different ones
    std::size_t starts = 0;            ///< of instances, in the span
    std::uint64_t refused_starts = 0;  ///< requests for one
    std::uint64_t gpu_ns = 0;          ///< of each record what was measured or granted, whichever is more
    std::uint64_t reported_ns = 0;
    std::uint64_t granted_ns = 0;
    std::uint64_t due_ns = 0;
    std::uint64_t waited_ns = 0;
    std::uint64_t launches = 0;
    std::uint64_t refused = 0;
    std::uint64_t memory_limit = 0;  ///< bytes: the largest of one instance on one GPU
    std::uint64_t memory_peak = 0;   ///< bytes: the same
    double memory_granted = 0;       ///< the limits, summed over the time; GiB x hours
    double memory_used = 0;          ///< what was charged, summed over the time; GiB x hours
    /// The time in which there was any of its instances, summed over GPUs; the second is the part of it in
    /// which cgpu divided the compute.
    std::uint64_t covered_us = 0;
    std::uint64_t measured_us = 0;

    /// Parts 0..1 of the GPU (of all the GPUs that are in the row), averaged over the time that was measured.
    /// Empty: none was.
    [[nodiscard]] std::optional<double> share_due() const { return share(due_ns); }
    [[nodiscard]] std::optional<double> share_got() const { return share(gpu_ns); }

  private:
    [[nodiscard]] std::optional<double> share(std::uint64_t ns) const {
        if (measured_us == 0) return std::nullopt;
        return static_cast<double>(ns) / 1e3 / static_cast<double>(measured_us);
    }
};

/// The name of the record's row.
[[nodiscard]] std::string key_of(const Record& record, By by, const DayOf& day_of);
/// The owner of the record's row. Two users may have instances of one name, and any user may take the name of
/// another's.
[[nodiscard]] model::Owner owner_of(const Record& record, const Dimensions& by);

/// Sums what the records have in the span; of a record that is partly in it, the part of its times. Calls,
/// allocations, starts and peaks belong to the record's last moment. Sorted: names and users by GPU time, the
/// largest first; GPUs by their indices, days by their order; rows of several dimensions by these.
[[nodiscard]] std::vector<Total> totals(std::span<const Record> records, const Span& span,
                                        const Dimensions& by, const DayOf& day_of);

/// The part of `figure` that belongs to the span, if it came evenly in the time of the record.
[[nodiscard]] double part_in(const Record& record, std::uint64_t figure, const Span& span);

}  // namespace cgpu::history
