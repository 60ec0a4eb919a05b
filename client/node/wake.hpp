#pragma once

#include <string>

#include "client/node/values/examination.hpp"
#include "dbus/compat.hpp"

namespace cgpu::client {

/// If the name org.cgpu1 has no owner, has the bus start cgpud (systemd does it) and waits until it is ready.
/// The bus alone would let a caller wait for 25 seconds for a service that can't start, so its unit is
/// checked before and meanwhile. A failed unit is not started: the administrator has to correct the fault
/// first. Throws sdbus::Error, with the unit's status text. Without systemd the wait is the bus's.
void wake_service(sdbus::IConnection& connection);

/// Whether cgpud is on the bus, and what systemd knows of it. It is not started. Throws sdbus::Error.
[[nodiscard]] ServiceState service_state(sdbus::IConnection& connection);

/// The state of a unit, by the properties of its D-Bus object.
struct UnitState {
    std::string active_state;      ///< e.g. `failed`
    std::string status_text;       ///< what the service said last; may be empty
    std::int32_t exit_status = 0;  ///< of its main process
};

/// Why cgpud doesn't start; empty if its unit has not failed.
[[nodiscard]] std::string why_failed(const UnitState& unit);

}  // namespace cgpu::client
