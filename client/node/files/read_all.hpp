#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"

namespace cgpu::client {

/// The whole regular file behind a descriptor, from its beginning; the descriptor stays open. Error (failed):
/// it can't be read; `what` begins the text.
[[nodiscard]] Result<std::vector<std::byte>> read_all(int fd, const std::string& what);

}  // namespace cgpu::client
