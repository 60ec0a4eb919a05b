#pragma once

#include <string>

#include "client/node/values/client_error.hpp"

namespace cgpu::exporter {

/// Checks what --listen has: an IPv4 address or an IPv6 address in brackets, a colon, and a port; port 0 is
/// any free one. Error: kind usage.
[[nodiscard]] client::Result<void> check_address(const std::string& address);

}  // namespace cgpu::exporter
