#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/bytes.hpp"
#include "core/model/mode.hpp"
#include "core/model/pci_address.hpp"
#include "core/model/policy.hpp"
#include "core/model/uuid.hpp"

namespace cgpu::model {

constexpr std::uint32_t kMinMaxInst = 1;
constexpr std::uint32_t kMaxMaxInst = 25;  ///< by cGPU's contract max_inst is 1 to 25
constexpr std::uint32_t kMinPrioRatio = 20;
constexpr std::uint32_t kMaxPrioRatio = 99;  ///< by cGPU's contract prio_ratio is 20 to 99

/// Which settings of a GPU a person has set; the others follow the configuration.
struct SetByHand {
    bool policy = false;
    bool max_inst = false;
    bool prio_ratio = false;

    friend bool operator==(const SetByHand&, const SetByHand&) = default;
};

/// The settings of a GPU.
struct GpuSettings {
    Policy policy = Policy::proportional;
    std::uint32_t max_inst = 20;  ///< instances it takes, and slices of its period: 1..25
    /// Percentage of the GPU that busy high-priority instances use at most: 20..99. cGPU's contract names no
    /// default; ours is half.
    std::uint32_t prio_ratio = 50;
    Mode mode = Mode::memory_compute;  ///< of an instance that requests none, while the GPU is empty
    SetByHand by_hand = {};

    friend bool operator==(const GpuSettings&, const GpuSettings&) = default;
};

/// A GPU as NVML shows it now.
struct SeenGpu {
    Uuid uuid;
    std::uint32_t index = 0;  ///< NVML's, of this boot
    std::string model_name;
    Bytes total;  ///< what can be allocated on it: NVML v2's total without the driver's reserve
    /// Why the GPU takes no instance (a MIG or exclusive-process card, one of an MPS server, a lost
    /// one), as a sentence without a
    /// full stop; empty: it does.
    std::string obstacle;
    /// Null: the driver doesn't say. It isn't kept, and makes no difference: a GPU is the same in another
    /// slot.
    std::optional<PciAddress> pci = std::nullopt;

    friend bool operator==(const SeenGpu& a, const SeenGpu& b) {
        return a.uuid == b.uuid && a.index == b.index && a.model_name == b.model_name && a.total == b.total &&
               a.obstacle == b.obstacle;
    }
};

/// A GPU that NVML counts but can't describe, such as one that has fallen off the bus.
struct LostGpu {
    std::uint32_t index = 0;
    std::string why;  ///< NVML's words, without a full stop

    friend bool operator==(const LostGpu&, const LostGpu&) = default;
};

/// An error of a GPU that its driver has reported: an Xid, by NVIDIA's number.
struct XidError {
    Uuid gpu;
    std::uint64_t code = 0;

    friend bool operator==(const XidError&, const XidError&) = default;
};

/// A process on a GPU that calls itself a server of MPS.
struct MpsServer {
    Uuid gpu;
    std::int32_t pid = 0;

    friend bool operator==(const MpsServer&, const MpsServer&) = default;
};

/// Everything that NVML shows now.
struct SeenGpus {
    std::vector<SeenGpu> gpus;
    std::vector<LostGpu> lost;
    std::vector<XidError> xids;  ///< errors reported since the last query, the oldest first
    std::vector<MpsServer> mps_servers = {};
    std::map<Uuid, Bytes> memory_used = {};  ///< without the driver's reserve
};

/// A GPU of the node, with its settings.
struct Gpu : SeenGpu {
    GpuSettings settings;
    /// False while NVML does not show it. Its settings and quotas are kept; it takes no new instance.
    bool present = true;
    /// It takes no new instance, because an administrator said so. Those that are there stay.
    bool drained = false;

    friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// `GPU 0 (GPU-…)`, for messages.
[[nodiscard]] inline std::string describe(const Gpu& gpu) {
    return "GPU " + std::to_string(gpu.index) + " (" + gpu.uuid.to_string() + ")";
}

}  // namespace cgpu::model
