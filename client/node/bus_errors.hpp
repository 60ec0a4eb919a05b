#pragma once

#include <string_view>

#include "client/node/values/client_error.hpp"

namespace cgpu::client {

/// The meaning of a bus error for a client. The daemon's own errors (org.cgpu1.Error.*) keep their text;
/// those of the bus get one with a remedy.
[[nodiscard]] ClientError from_bus(std::string_view name, std::string_view text);

/// Whether the error says that the bus takes no more of this user at the moment.
[[nodiscard]] bool is_no_room(std::string_view name);

}  // namespace cgpu::client
