#pragma once

#include "client/node/values/client_error.hpp"
#include "client/run/files/root.hpp"
#include "client/run/mounts/mount_plan.hpp"

namespace cgpu::client {

/// Gives this process a mount namespace of its own; later mounts on the system still propagate in (except
/// where make_mounts() has shielded the driver's files), and none propagates out. Needs CAP_SYS_ADMIN.
/// Refused inside an instance.
[[nodiscard]] Result<void> enter_namespace();

/// Carries out the plan in this mount namespace. `root` is what the job sees as "/". After an error the
/// mounts are unfinished: the job must not start.
[[nodiscard]] Result<void> make_mounts(const MountPlan& plan, const Root& root);

}  // namespace cgpu::client
