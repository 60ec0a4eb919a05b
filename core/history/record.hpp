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

/// What one instance had of one GPU in one interval. Times in nanoseconds, but the interval in microseconds.
struct Record {
    std::uint64_t number = 0;       ///< from 1; each record of a node has the next one
    std::uint64_t begin_us = 0;     ///< since 1970
    std::uint64_t duration_us = 0;  ///< by a clock that nobody sets
    std::string instance;           ///< its full id
    std::string name;               ///< the instance's, as others chose it
    model::Uuid gpu;
    std::uint32_t gpu_index = 0;
    std::uint64_t reported_ns = 0;  ///< GPU time that its processes measured, as far as cgpud believed them
    std::uint64_t granted_ns = 0;   ///< the least that its turns on the GPU cost, whatever was reported
    std::uint64_t due_ns = 0;       ///< the share that the policy gave it, summed over the time
    std::uint64_t waited_ns = 0;    ///< that its launches waited at the gate
    std::uint64_t launches = 0;
    std::uint64_t refused = 0;       ///< allocations, because of the memory limit
    std::uint64_t memory_limit = 0;  ///< bytes, at the end
    std::uint64_t memory_peak = 0;   ///< bytes
    model::Owner owner = {};         ///< of the instance
    bool measured = false;  ///< cgpu divided the compute, at least at the end; else GPU time is unknown
    bool ended = false;     ///< it is the last one of this instance

    /// What may be billed: what was measured, or what was granted if that is more.
    [[nodiscard]] std::uint64_t gpu_ns() const { return std::max(reported_ns, granted_ns); }
    [[nodiscard]] std::uint64_t end_us() const { return begin_us + duration_us; }

    friend bool operator==(const Record&, const Record&) = default;
};

/// Every record has this width: that of the smallest sector of a disk, which is written as a whole.
constexpr std::size_t kRecordBytes = 512;
/// Longer texts are cut.
constexpr std::size_t kMostInstanceBytes = 128;
constexpr std::size_t kMostNameBytes = 255;
/// Of an instance that declares its owner.
constexpr std::size_t kMostNameBesideOwner = kMostNameBytes - model::kMaxOwnerName - 1;

using RecordBytes = std::array<std::byte, kRecordBytes>;

/// The same bytes on every machine.
[[nodiscard]] RecordBytes encode(const Record& record);
/// Empty: the bytes are no record, or a damaged one. `bytes`: kRecordBytes of them, else it is empty, too.
[[nodiscard]] std::optional<Record> decode(std::span<const std::byte> bytes);

}  // namespace cgpu::history
