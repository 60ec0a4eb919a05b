#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/view/fields.hpp"
#include "core/wire/pages.hpp"

namespace cgpu::view {

/// The launches that had to wait at the gate before they passed, by how long each waited: counts[i] for a
/// wait of at most wire::kWaitBoundsNs[i] that is longer than the bound before, the last one for longer
/// waits.
struct LaunchWaits {
    std::array<std::uint64_t, wire::kWaitBuckets> counts{};
    std::uint64_t sum = 0;  ///< nanoseconds, of their waits

    /// The bound of a count, in nanoseconds; INT64_MAX: none.
    [[nodiscard]] static constexpr std::int64_t most(std::size_t count) {
        return count + 1 < wire::kWaitBuckets ? wire::kWaitBoundsNs[count] : INT64_MAX;
    }
};

/// What an instance uses of one GPU now. What cgpud counts begins with the instance, or with cgpud's start.
struct Usage {
    std::uint64_t memory_used = 0;          ///< bytes charged by its processes, contexts and code included
    std::uint64_t memory_leased = 0;        ///< bytes granted to its processes, contexts and code included
    std::uint64_t memory_peak = 0;          ///< bytes: the most of memory_used so far
    std::uint64_t memory_unexplained = 0;   ///< bytes of memory_used that came without the module
    std::uint64_t allocations_refused = 0;  ///< because of the memory limit
    std::uint64_t gpu_time = 0;             ///< nanoseconds that it is charged, measured by its processes
    std::uint64_t waited = 0;               ///< nanoseconds that its launches waited at the gate
    std::uint64_t longest_kernel = 0;       ///< nanoseconds
    std::uint64_t launches = 0;
    std::uint64_t preemptions = 0;  ///< its turns that others cut short
    LaunchWaits launch_waits;       ///< of the processes whose front and engine tell them
    /// 0..1: the share by the policy, and the share of the last seconds. Empty if the driver divides the
    /// compute (policy native, a mode without compute): launches aren't measured then.
    std::optional<double> target_share;
    std::optional<double> achieved_share;
    /// 0..1 of the GPU's time: what its processes use beyond what they report, by the driver's samples. Empty
    /// if nobody could know.
    std::optional<double> compute_unexplained;
    std::vector<std::uint32_t> processes;                        ///< host pids
    std::map<std::uint32_t, std::uint64_t> memory_of_processes;  ///< bytes of memory_used by host pid
    std::vector<std::uint32_t> processes_outside;  ///< host pids of those that use the GPU outside the module
};

/// Calls `on` for each figure, with its name in JSON.
template <class Fields, Is<Usage> Of>
void fields(Fields& on, Of& usage) {
    on.value("memory_used_bytes", usage.memory_used);
    on.value("memory_leased_bytes", usage.memory_leased);
    on.value("memory_peak_bytes", usage.memory_peak);
    on.value("memory_unexplained_bytes", usage.memory_unexplained);
    on.value("allocations_refused", usage.allocations_refused);
    on.value("target_share", usage.target_share);
    on.value("achieved_share", usage.achieved_share);
    on.value("compute_unexplained_share", usage.compute_unexplained);
    on.seconds("gpu_time_seconds", usage.gpu_time);
    on.seconds("waited_seconds", usage.waited);
    on.waits("launch_waits", usage.launch_waits);
    on.seconds("launch_waits_seconds", usage.launch_waits.sum);
    on.seconds("longest_kernel_seconds", usage.longest_kernel);
    on.value("launches", usage.launches);
    on.value("preemptions", usage.preemptions);
    on.value("processes", usage.processes);
    on.by_number("memory_of_processes_bytes", usage.memory_of_processes);
    on.value("processes_outside", usage.processes_outside);
}

}  // namespace cgpu::view
