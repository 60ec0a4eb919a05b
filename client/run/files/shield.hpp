#pragma once

#include <string>

#include "client/run/files/root.hpp"

namespace cgpu::client {

/// From now on, what is mounted outside this mount namespace doesn't come over the way to the file at `path`
/// (links resolved), where it would hide what is mounted over that file here: a folder on the way is bound
/// over itself, with all mounts in it, without propagation. The kernel puts a mount that propagates to that
/// place below such a mount. Nothing is done where no mount on the way receives others.
///
/// In this process's own root that is the first folder whose mount receives others, if root alone can write
/// to all folders on the way: a user's folder may have mounts below it that an automounter makes later. Below
/// another root (a container's) it is a folder in such a mount, since its user may have shared a volume in
/// order to see later mounts: a mount over the root of that volume still comes in.
[[nodiscard]] Result<void> shield(const std::string& path, const Root& root);

}  // namespace cgpu::client
