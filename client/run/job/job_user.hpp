#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "client/node/values/client_error.hpp"
#include "client/run/job/run_request.hpp"

namespace cgpu::client {

/// The user that a job's command runs as.
struct JobUser {
    uid_t uid = 0;
    gid_t gid = 0;      ///< its primary group
    std::string name;   ///< empty if the system doesn't know the user id
    std::string home;   ///< the same
    std::string shell;  ///< the same
};

/// The user of a job: `asked` (a name or a user id), if it isn't empty; else the user who called sudo or
/// pkexec, by the variables that these set (SUDO_UID and SUDO_GID, PKEXEC_UID). Empty: the command runs as
/// the user of cgpuctl, also if that is root. Refused (usage): there is no such user.
[[nodiscard]] Result<std::optional<JobUser>> job_user(std::string_view asked, const Variables& environment);

/// Switches this process to the user: groups, group, user, and HOME, USER, LOGNAME and SHELL. Irrevocable.
/// Fails if the process isn't root.
[[nodiscard]] Result<void> become(const JobUser& user);

}  // namespace cgpu::client
