#pragma once

#include "client/node/client_error.hpp"
#include "client/run/mount_plan.hpp"

namespace cgpu::client {

/// Gives this process a mount namespace of its own and carries out the plan in it; what is mounted elsewhere
/// later still arrives, and nothing gets out. Needs CAP_SYS_ADMIN. After an error the namespace is
/// unfinished: the process must not go on to its command.
[[nodiscard]] Result<void> make_mounts(const MountPlan& plan);

}  // namespace cgpu::client
