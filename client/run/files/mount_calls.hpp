#pragma once

#include "files/descriptor.hpp"

namespace cgpu::client {

/// The kernel's calls for mounts by descriptor. glibc has them from 2.36 on, and the programs of
/// packaging/portable are linked with an older one. If one fails, errno says why.

enum class Below { left_out, included };
/// A copy of the mount in which `place` lies, from there on, with or without the mounts below; attached
/// nowhere. Empty if it failed.
[[nodiscard]] Descriptor copy_mount(const Descriptor& place, Below below = Below::left_out);
/// Attaches the mount over `place`.
[[nodiscard]] bool attach_mount(const Descriptor& mount, const Descriptor& place);
/// Makes the mount read-only, without devices and set-user-id programs (Linux 5.12).
[[nodiscard]] bool make_mount_read_only(const Descriptor& mount);
/// A new tmpfs named cgpu with a root of mode 755, of at most 64 MiB, without devices and set-user-id
/// programs; attached nowhere. Empty if it failed.
[[nodiscard]] Descriptor new_tmpfs();

}  // namespace cgpu::client
