#pragma once

#include <string>

#include "client/node/client_error.hpp"
#include "client/run/files/descriptor.hpp"

namespace cgpu::client {

/// A copy of a mount, of a folder or a file, that is attached nowhere until attach().
class Tree {
  public:
    /// `name` is for the errors.
    static Result<Tree> take(const Descriptor& what, const std::string& name);

    [[nodiscard]] bool is_folder() const;
    /// Shows it over `target`, read-only from the moment anybody can use it.
    [[nodiscard]] Result<void> attach(const Descriptor& target, const std::string& name) const;

  private:
    explicit Tree(Descriptor fd) : fd_(std::move(fd)) {}
    Descriptor fd_;
};

/// What is mounted on `target` from now on, here, stays in this mount namespace: where its mount is shared
/// with others (a container's volume with rshared is with the host's), it becomes their slave, so what they
/// mount still comes in. Error (refused): that mount can't be reached; `name` is for the errors.
[[nodiscard]] Result<void> keep_in_namespace(const Descriptor& target, const std::string& name);

class Root;

/// Takes off the file at `path` what is mounted on this very file, so that it shows what lies below. NVIDIA's
/// toolkit binds the host's driver file by file into a container: what is mounted over such a bind is mounted
/// on the host's file, and the kernel takes it away in all mount namespaces when that file is removed or
/// replaced on the host, as by an upgrade of the driver. What can't be taken off stays.
[[nodiscard]] Result<void> take_off_binds(const std::string& path, const Root& root);

/// What a mount has failed with, as an error with a remedy.
[[nodiscard]] tl::unexpected<ClientError> mount_failed(const std::string& what, int error);

}  // namespace cgpu::client
