#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "module/front/nvml/process_list.hpp"

/// The NVML front's questions to the daemon, over a connection that is made at first use and made again when
/// it is lost. GPUs are named by their UUIDs as NVML writes them. Each question waits 2 s at most.
namespace cgpu::front {

struct Usage {
    bool limited = false;
    std::uint64_t limit_bytes = 0;
    std::uint64_t used_bytes = 0;  ///< by the whole instance
    /// The share of the GPU's time that the instance has had lately, in thousandths; empty if it isn't
    /// measured.
    std::optional<unsigned> share;
};

enum class Found {
    limited,
    unlimited,  ///< the mode of this GPU doesn't isolate memory: the card's figures apply
    foreign,    ///< not one of the instance's GPUs
    no_daemon,
};

/// Whether the instance has this GPU.
Found instance_has(std::string_view uuid);
Found instance_usage(std::string_view uuid, Usage& usage);

/// The instance's processes that have memory of the GPU, by their pids as this process sees them; none if the
/// GPU is foreign.
Found instance_processes(std::string_view uuid, ProcessList& processes);

/// "GPU-01234567-…" or "MIG-…" as the 16 bytes of the driver's interface.
std::optional<std::array<std::uint8_t, 16>> parse_uuid(std::string_view text);

}  // namespace cgpu::front
