#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/model/owner.hpp"
#include "core/model/uuid.hpp"

namespace cgpu::history {

/// How many instances a record is of, and how many of them began in its time. A record of one instance has
/// 1 and perhaps 1.
struct InstanceCount {
    std::uint32_t all = 0;
    std::uint32_t began = 0;

    InstanceCount& operator+=(const InstanceCount& other) {
        all += other.all;
        began += other.began;
        return *this;
    }
    friend bool operator==(const InstanceCount&, const InstanceCount&) = default;
};

/// What one instance had of one GPU in one interval; or several together, as in the sums of a day
/// (day_sums.hpp). Times in nanoseconds, but the interval in microseconds.
///
/// Requests that were refused have a record without a GPU (the UUID of zeros) and without an instance.
struct Record {
    std::uint64_t number = 0;       ///< from 1; each record of a node has the next one
    std::uint64_t begin_us = 0;     ///< since 1970
    std::uint64_t duration_us = 0;  ///< by a clock that nobody sets
    std::string instance;           ///< its full id
    std::string name;               ///< the instance's, as others chose it
    model::Uuid gpu;
    std::uint32_t gpu_index = 0;
    std::uint64_t reported_ns = 0;  ///< Usage::gpu_time
    std::uint64_t granted_ns = 0;   ///< the least that its turns on the GPU cost, whatever was reported
    std::uint64_t due_ns = 0;       ///< the share that the policy gave it, summed over the time
    std::uint64_t waited_ns = 0;    ///< that its launches waited at the gate
    std::uint64_t launches = 0;
    std::uint64_t refused = 0;       ///< allocations, because of the memory limit
    std::uint64_t memory_limit = 0;  ///< bytes, at the end
    std::uint64_t memory_peak = 0;   ///< bytes
    /// In which there was any of its instances: all of the duration, but for sums. Microseconds.
    std::uint64_t present_us = 0;
    std::uint64_t memory_granted = 0;  ///< the limit, summed over the time; MiB x ms
    std::uint64_t memory_used = 0;     ///< what was charged, summed over the time; MiB x ms
    InstanceCount instances = {1, 0};
    /// Of these, those of which this is the first GPU: each instance counts once on the node.
    InstanceCount on_first_gpu = {1, 0};
    std::uint32_t refused_starts = 0;  ///< requests
    model::Owner owner = {};           ///< of the instance
    bool measured = false;  ///< cgpu divided the compute, at least at the end; else GPU time is unknown
    bool ended = false;     ///< it is the last one of this instance

    /// What may be billed: what was measured, or what was granted if that is more.
    [[nodiscard]] std::uint64_t gpu_ns() const { return std::max(reported_ns, granted_ns); }
    [[nodiscard]] std::uint64_t end_us() const { return begin_us + duration_us; }

    friend bool operator==(const Record&, const Record&) = default;
};

/// Adds a record to a sum, which is of the same GPU. The sum covers the time from the first to the last.
void add(Record& sum, const Record& record);
/// Makes a record longer by what the same instance had of the same GPU right after it, without work in both.
void prolong(Record& record, const Record& more);
/// The beginning of a sum: it has the record's owner and GPU, this name, and no instance.
[[nodiscard]] Record sum_of(const Record& record, const std::string& name);

/// So many bytes for so long, in the unit of the records.
[[nodiscard]] std::uint64_t mib_ms(std::uint64_t bytes, std::uint64_t us);

/// Every record has this width: that of the smallest sector of a disk, which is written as a whole.
constexpr std::size_t kRecordBytes = 512;
/// Longer texts are cut; a name also to what the instance and a declared owner leave of the width.
constexpr std::size_t kMostInstanceBytes = 128;
constexpr std::size_t kMostNameBytes = 255;

/// What is left for the name of a record with texts of these sizes.
[[nodiscard]] std::size_t most_name_bytes(std::size_t instance, std::size_t declared);

using RecordBytes = std::array<std::byte, kRecordBytes>;

/// The same bytes on every machine.
[[nodiscard]] RecordBytes encode(const Record& record);
/// Empty: the bytes are no record, or a damaged one. `bytes`: kRecordBytes of them, else it is empty, too.
[[nodiscard]] std::optional<Record> decode(std::span<const std::byte> bytes);

}  // namespace cgpu::history
