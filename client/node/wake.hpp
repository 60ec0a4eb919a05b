#pragma once

#include <string>

#include "dbus/compat.hpp"

namespace cgpu::client {

/// Where nobody has the name org.cgpu1, has the bus start cgpud (systemd does it) and waits until it is
/// there. The bus alone would let a caller wait for 25 seconds for a service that can't start, so its unit is
/// looked at before and meanwhile. One that has failed is not started: that is up to who mends what it failed
/// for. Throws sdbus::Error, with what the unit says of itself. Where there is no systemd the wait is the
/// bus's.
void wake_service(sdbus::IConnection& connection);

/// What a unit says of itself, by the properties of its D-Bus object.
struct UnitState {
    std::string active_state;      ///< e.g. `failed`
    std::string status_text;       ///< what the service said last; may be empty
    std::int32_t exit_status = 0;  ///< of its main process
};

/// Why cgpud doesn't start; empty where its unit has not failed.
[[nodiscard]] std::string why_failed(const UnitState& unit);

}  // namespace cgpu::client
