#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// What has been changed already and takes effect later.
struct Awaited {
    /// Why it has not yet: `what: why`; empty: it has.
    std::function<client::Result<std::string>()> why_not;
    std::uint32_t seconds = 60;
    std::string remedy;  ///< what to do if the time is over
};

/// Looks five times a second until the change has its effect. A daemon that is temporarily away is waited
/// for. Error (failed) after that time, with the reason; the change stays. Error of any other kind:
/// why_not's.
client::Result<void> wait_until(const Awaited& awaited, Terminal& terminal);

}  // namespace cgpu::cgpuctl
