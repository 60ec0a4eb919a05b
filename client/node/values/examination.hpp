#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a check of the node asks the bus and cgpud for.
namespace cgpu::client {

/// cgpud as the bus and systemd see it.
struct ServiceState {
    bool running = false;              ///< it owns its name on the bus
    std::optional<std::uint32_t> uid;  ///< its user, while it is running
    std::string unit_state;  ///< systemd's word: `active`, `inactive`, `failed`, …; empty: no systemd, or no
                             ///< such unit
    std::string status_text;  ///< what it said last to systemd
    std::string failure;      ///< why it doesn't start; empty if its unit has not failed
};

/// A process that uses a GPU, as the driver shows it.
struct GpuProcess {
    std::uint32_t pid = 0;  ///< the host's
    std::uint64_t bytes = 0;
};

/// Whether NVIDIA's driver itself can limit the memory of cgroups on a GPU. cgpu doesn't use that.
struct DriverLimits {
    std::string backend;  ///< `dmem`, `misc` or `none`
    std::string why_none;
    std::optional<std::uint64_t> own_limit;  ///< bytes, of cgpu-nvml's cgroup; empty: it has none
};

struct ExaminedGpu {
    std::string uuid;
    std::optional<bool> persistence;  ///< persistence mode; empty: the driver doesn't say
    std::vector<GpuProcess> processes;
    DriverLimits limits = {};
};

/// The answer of Examine.
struct Examination {
    std::string state_dir;
    std::string runtime_dir;
    std::string module_dir;
    std::string driver_error;    ///< why the driver doesn't answer; empty: it does
    std::string driver_version;  ///< of its libraries; empty: it doesn't say
    std::vector<ExaminedGpu> gpus;
};

}  // namespace cgpu::client
