#pragma once

#include <sys/types.h>

#include <filesystem>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::link {

/// The folder of one instance, e.g. /run/cgpu/instances/ID, below which its link lies. The link itself is
/// open to processes of any user, because those of a job may be anybody's, and they reach it by a mount in
/// their own namespace. So this folder is closed to all others: to search it takes being cgpud, root, or one
/// of the users who were let in, because they make such mounts (an access control list, acl(5)). Where the
/// file system has no such lists it is searchable for everybody as soon as one was let in.
class InstanceFolder {
  public:
    /// Makes it, or takes up the one that is there with those who were let in. Refused (storage).
    static app::Result<InstanceFolder> open(std::filesystem::path path);
    /// Refused (storage).
    app::Result<void> let_in(uid_t user);

  private:
    explicit InstanceFolder(std::filesystem::path path) : path_(std::move(path)) {}

    std::filesystem::path path_;
};

}  // namespace cgpu::link
