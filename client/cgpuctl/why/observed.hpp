#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cgpuctl/smi/view.hpp"
#include "client/node/values/snapshot.hpp"

/// Why an instance got what it got of a GPU: first what readings of the node say about it.
namespace cgpu::cgpuctl::why {

/// Another instance on the GPU.
struct Rival {
    std::string name;  ///< as it is shown
    double used = 0;   ///< part of the GPU's time, 0..1
    bool high_priority = false;
    std::uint64_t longest_kernel = 0;  ///< nanoseconds
    std::string id{};
    double waited = 0;      ///< as Observed::waited
    double unreported = 0;  ///< part of the GPU's time beyond `used`, 0..1
};

/// One instance on one of its GPUs between the first reading and the last one.
struct Observed {
    std::string id;
    std::string name;  ///< in full, as others chose it; its short id if it has none
    client::Gpu gpu;
    client::Quota quota;
    bool connected = false;  ///< a process of it is connected to cgpud
    /// Host pids of its processes that got no driver, the last one for each reason of that event.
    std::map<std::string, std::uint32_t> without_driver{};
    double seconds = 0;         ///< between the readings
    std::optional<double> due;  ///< share of the GPU, 0..1; empty: the driver divides the compute
    /// Part of the GPU's time by the instance's own figures, 0..1: they go on while somebody else has the GPU
    /// in between, so own_part() says what it really had.
    double got = 0;
    /// Part of the time in which launches waited for their turn, 0..1. Of several that wait at once each
    /// counts, up to 1.
    double waited = 0;
    std::uint64_t launches = 0;          ///< between the readings
    std::uint64_t preemptions = 0;       ///< between the readings
    std::uint64_t refused = 0;           ///< allocations, since the instance began
    std::uint64_t memory_used = 0;       ///< bytes
    std::vector<Rival> rivals;           ///< the one that used most comes first
    std::vector<std::uint32_t> outside;  ///< host pids that use the GPU without the module, of all instances
    /// Instances that use the GPU beyond what they report, by name, with the part of its time, 0..1.
    std::vector<std::pair<std::string, double>> unreported;
    double unreported_of_own = 0;        ///< its own part among these
    std::vector<std::string> unmanaged;  ///< names of containers without a limit on this GPU
    /// What processes of no instance used, 0..1, by the driver's samples; empty: nobody knows.
    std::optional<double> strangers;
    std::uint64_t strangers_process = 0;  ///< host pid of the one that used most; 0: none did
    bool time_over = false;               ///< it has a time limit, of which nothing is left
    bool idle_over = false;               ///< it was without work for as long as it may
};

/// By readings in the order of time, two at least; the interval of the last one is the time since the first.
/// What is due changes with who is busy, so it is the mean of all readings. Empty if the instance has no such
/// GPU in the first or the last one.
[[nodiscard]] std::optional<Observed> observe(const std::vector<smi::View>& readings, const std::string& id,
                                              const std::string& uuid);

}  // namespace cgpu::cgpuctl::why
