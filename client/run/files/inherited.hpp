#pragma once

#include <sys/types.h>

#include <vector>

#include "client/node/values/client_error.hpp"
#include "client/run/files/same_file.hpp"

namespace cgpu::client {

/// What the command inherits from before the job's mounts must not lead past them. `/proc/self/fd/N` of a
/// folder that was opened outside leads to files without what is mounted over them here, and that of a file
/// to the file itself. So each descriptor of a folder that the command would inherit is opened again by its
/// path, or closed if another folder (or none) is found there. Those of the `closed` files and of other mount
/// and user namespaces are closed. A standard descriptor gets /dev/null instead. The working folder is opened
/// again, too.
///
/// Paths are looked up with the rights of `user`, and where these don't suffice and root has started this
/// process, with root's. Errors: refused, if the working folder isn't found at its path; failed, without
/// /proc.
[[nodiscard]] Result<void> settle_inherited(const std::vector<FileId>& closed, uid_t user, gid_t group);

}  // namespace cgpu::client
