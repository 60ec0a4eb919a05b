#pragma once

#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"

namespace cgpu::client {

/// The set-uid program that makes the mounts of a job for a user who isn't root (client/enter).
constexpr const char* kEnterHelper = "/usr/lib/cgpu/cgpu-enter";

/// Whether this process would get root's rights by executing the helper. Error (not_authorized): the helper
/// is missing, an administrator has removed its set-uid bit, its file system is mounted nosuid, or this
/// process may not gain rights (PR_SET_NO_NEW_PRIVS, as in a sandbox).
[[nodiscard]] Result<void> check_enter_helper(const std::string& helper = kEnterHelper);

/// Executes the helper, which makes the mounts of the instance and executes the command. The pid stays the
/// same. Returns only if the helper can't be started.
[[nodiscard]] ClientError become_enter_helper(const std::string& instance,
                                              const std::vector<std::string>& command);

}  // namespace cgpu::client
