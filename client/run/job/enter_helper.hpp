#pragma once

#include <string>
#include <vector>

#include "client/node/client_error.hpp"

namespace cgpu::client {

/// The set-uid program that makes the mounts of a job for a user who isn't root (client/enter).
constexpr const char* kEnterHelper = "/usr/lib/cgpu/cgpu-enter";

/// Whether this process would get root's rights by becoming the helper. Error (not_authorized): the helper is
/// not there, an administrator has taken its set-uid bit away, its file system is mounted nosuid, or this
/// process may not gain rights (PR_SET_NO_NEW_PRIVS, as in a sandbox).
[[nodiscard]] Result<void> check_enter_helper(const std::string& helper = kEnterHelper);

/// Becomes the helper, which makes the mounts of the instance and becomes the command. The pid stays the
/// same. Returns only where it can't be started.
[[nodiscard]] ClientError become_enter_helper(const std::string& instance,
                                              const std::vector<std::string>& command);

}  // namespace cgpu::client
