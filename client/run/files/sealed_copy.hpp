#pragma once

#include "files/descriptor.hpp"

namespace cgpu::client {

/// A copy of a file in memory that nobody can change, open for reading; empty with errno if there can't be
/// one. `name`: what /proc/PID/maps shows of it.
[[nodiscard]] Descriptor sealed_copy(const Descriptor& file, const char* name);

/// Whether this process's users are not those of the host, but of a namespace such as a rootless engine's.
[[nodiscard]] bool has_users_of_its_own();

}  // namespace cgpu::client
