#pragma once

#include <sys/types.h>

#include <filesystem>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::link {

/// The folder of one instance, e.g. /run/cgpu/instances/ID, which contains its link. The link itself is open
/// to processes of any user, because a job's processes may belong to any user, and reach it by a mount in
/// their own namespace. So this folder is closed to all others: only cgpud, root, and users who were let in
/// because they make such mounts (an access control list, acl(5)) can search it. On a file system without
/// such lists every user can search it as soon as one was let in.
class InstanceFolder {
  public:
    /// Creates the folder, or takes over an existing one with the users who were let in. Refused (storage).
    static app::Result<InstanceFolder> open(std::filesystem::path path);
    /// Refused (storage).
    app::Result<void> let_in(uid_t user);

  private:
    explicit InstanceFolder(std::filesystem::path path) : path_(std::move(path)) {}

    std::filesystem::path path_;
};

}  // namespace cgpu::link
