#pragma once

#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"

namespace cgpu::client {

/// Strings in the form that the exec functions and `environ` need; valid as long as the strings are.
[[nodiscard]] std::vector<char*> as_exec_takes(const std::vector<std::string>& strings);

/// Executes the command, which is looked up along PATH. Returns only if it can't be started: no_command or
/// bad_command. Signals and descriptors stay as they are.
[[nodiscard]] ClientError start_command(const std::vector<std::string>& command);

}  // namespace cgpu::client
