#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

/// What is shown of the node.
namespace cgpu::cgpuctl::top {

/// One instance on one GPU.
struct PlaceId {
    std::string instance;  ///< its id
    std::string gpu;       ///< UUID

    friend bool operator==(const PlaceId&, const PlaceId&) = default;
    friend bool operator<(const PlaceId& a, const PlaceId& b) {
        return std::tie(a.instance, a.gpu) < std::tie(b.instance, b.gpu);
    }
};

/// Shares of the GPU (0..1), the oldest first.
using History = std::vector<std::optional<double>>;

struct GpuRow {
    std::string uuid;
    std::uint32_t index = 0;
    std::string model;
    bool present = true;
    bool drained = false;
    std::string policy;
    std::uint32_t instances = 0;
    std::uint32_t max_inst = 0;
    std::optional<double> utilization;
    std::uint64_t memory_used = 0;       ///< bytes
    std::uint64_t memory_allocated = 0;  ///< bytes
    std::uint64_t memory_total = 0;      ///< bytes
};

struct InstanceRow {
    PlaceId place;
    std::string name;
    std::string owner;
    std::uint32_t gpu_index = 0;
    bool own = true;  ///< false: the GPU isn't the instance's, its processes use it outside the module
    std::uint32_t weight = 0;
    bool high = false;
    bool paused = false;
    std::optional<double> due;
    std::optional<double> got;       ///< over the time since the reading before
    std::optional<double> waiting;   ///< the same
    std::size_t processes = 0;       ///< those outside the module, too
    std::string who;                 ///< the instance's processes with their users and commands
    std::uint64_t memory_used = 0;   ///< bytes
    std::uint64_t memory_limit = 0;  ///< bytes; 0 if the GPU isn't its own
    History history;                 ///< of what it got
};

struct Rows {
    std::vector<GpuRow> gpus;            ///< by index, those that are not present last
    std::vector<InstanceRow> instances;  ///< by GPU, the oldest first
    std::size_t waiting = 0;             ///< requests in the queue
};

}  // namespace cgpu::cgpuctl::top
