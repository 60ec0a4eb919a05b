#pragma once

#include <string>
#include <vector>

#include "client/node/client_error.hpp"

namespace cgpu::client {

/// Strings as the exec functions and `environ` take them; good as long as the strings are.
[[nodiscard]] std::vector<char*> as_exec_takes(const std::vector<std::string>& strings);

/// Becomes the command, which is looked up along PATH. Returns only where it can't be started: no_command or
/// bad_command. Signals and descriptors stay as they are.
[[nodiscard]] ClientError start_command(const std::vector<std::string>& command);

}  // namespace cgpu::client
