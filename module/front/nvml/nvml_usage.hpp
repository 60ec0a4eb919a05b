#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "module/front/nvml/process_list.hpp"

/// What the NVML front asks the daemon, over a connection made at first use and made again when lost. GPUs by
/// their UUIDs as NVML writes them. Each waits 2 s at most.
namespace cgpu::front {

struct MemoryUsage {
    bool limited = false;
    std::uint64_t limit_bytes = 0;
    std::uint64_t used_bytes = 0;  ///< by the whole instance
};

enum class Found {
    limited,
    unlimited,  ///< the mode of this GPU doesn't isolate memory: what the card says holds
    foreign,    ///< not one of the instance's GPUs
    no_daemon,
};

Found instance_memory(std::string_view uuid, MemoryUsage& usage);

/// The instance's processes that have memory of the GPU, by their pids as this process sees them; none where
/// the GPU is foreign.
Found instance_processes(std::string_view uuid, ProcessList& processes);

/// "GPU-01234567-…" or "MIG-…" as the 16 bytes that the driver's interface gives.
std::optional<std::array<std::uint8_t, 16>> parse_uuid(std::string_view text);

}  // namespace cgpu::front
