#pragma once

#include <string_view>

#include "client/node/client_error.hpp"

namespace cgpu::client {

/// What an error of the bus means for a client. The daemon's own (org.cgpu1.Error.*) keep their text; the
/// bus's get one that says what to try.
[[nodiscard]] ClientError from_bus(std::string_view name, std::string_view text);

}  // namespace cgpu::client
