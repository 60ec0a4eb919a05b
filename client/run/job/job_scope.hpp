#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cgpu::client {

/// The slice in which a job gets a scope of its own, by the text of its /proc/PID/cgroup: the slice of its
/// user, if the job was started in a login session (`session-4.scope`) or below the user's own systemd
/// (`user@1000.service`). So the limits of the user's slice hold for the job, too. Empty if the job belongs
/// to something else, a service or a batch system: those manage their own cgroups, and would lose a process
/// that left. Empty if systemd doesn't manage the cgroups.
[[nodiscard]] std::optional<std::string> slice_for_job(std::string_view cgroups);

/// The same for this process.
[[nodiscard]] std::optional<std::string> slice_for_this_process();

/// The name of a job's scope, by its instance's id: `cgpu-job-0123456789ab.scope`.
[[nodiscard]] std::string scope_name(std::string_view id);

}  // namespace cgpu::client
