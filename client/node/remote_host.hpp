#pragma once

#include <memory>
#include <string>

#include "client/node/values/client_error.hpp"
#include "dbus/compat.hpp"

namespace cgpu::client {

/// The name of another machine as ssh takes it: `[USER@]HOST[:PORT]`. Error (usage): it is none.
[[nodiscard]] Result<void> check_host(const std::string& host);

/// The system bus of that machine, over ssh. Throws sdbus::Error (org.cgpu1.Error.Unreachable).
[[nodiscard]] std::unique_ptr<sdbus::IConnection> connect_to_host(const std::string& host);

}  // namespace cgpu::client
