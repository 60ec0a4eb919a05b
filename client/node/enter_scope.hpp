#pragma once

#include "client/node/node.hpp"
#include "dbus/compat.hpp"

namespace cgpu::client {

/// Has systemd create the scope with this process in it, and waits until the process is in it. Throws
/// sdbus::Error: systemd's error, or that the process wasn't moved within five seconds.
void enter_scope(sdbus::IConnection& connection, const Scope& scope);

}  // namespace cgpu::client
