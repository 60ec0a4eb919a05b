#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/node/values/client_error.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {

/// A copy of the mount of a folder or a file, which is attached nowhere until attach().
class Tree {
  public:
    /// `name` is for error messages.
    static Result<Tree> take(const Descriptor& what, const std::string& name);

    [[nodiscard]] bool is_folder() const;
    /// Mounts it over `target`, read-only from the moment it is visible.
    [[nodiscard]] Result<void> attach(const Descriptor& target, const std::string& name) const;

  private:
    explicit Tree(Descriptor fd) : fd_(std::move(fd)) {}
    Descriptor fd_;
};

/// From now on, mounts on `target` stay in this mount namespace: if its mount is shared with others (as a
/// container's rshared volume is with the host), it becomes their slave, so their mounts still propagate in.
/// Error (refused): that mount can't be reached; `name` is for error messages.
[[nodiscard]] Result<void> keep_in_namespace(const Descriptor& target, const std::string& name);

/// Where an open file lies.
struct MountPlace {
    std::uint64_t mount = 0;  ///< the id of its mount
    bool is_root = false;     ///< it is what the mount shows, not something in it
};

/// Empty, with errno, if the kernel doesn't tell (statx(2)).
[[nodiscard]] std::optional<MountPlace> mount_place(const Descriptor& file);

class Root;

/// Removes bind mounts from the very file at `path`, so that it shows the file below. NVIDIA's toolkit binds
/// the host's driver file by file into a container: a mount over such a bind is on the host's file, and the
/// kernel removes it in all mount namespaces when that file is removed or replaced on the host, as by an
/// upgrade of the driver. Binds that can't be removed stay.
[[nodiscard]] Result<void> take_off_binds(const std::string& path, const Root& root);

/// The failure of a mount, as an error with a remedy.
[[nodiscard]] tl::unexpected<ClientError> mount_failed(const std::string& what, int error);

}  // namespace cgpu::client
