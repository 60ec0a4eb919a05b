#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "client/node/client_error.hpp"
#include "client/run/job/run_request.hpp"

namespace cgpu::client {

/// As whom a job's command runs.
struct JobUser {
    uid_t uid = 0;
    gid_t gid = 0;      ///< its primary group
    std::string name;   ///< empty where the system doesn't know the user id
    std::string home;   ///< the same
    std::string shell;  ///< the same
};

/// The user of a job: `asked` (a name or a user id), where it isn't empty; else who called sudo or pkexec, by
/// what these leave in the environment (SUDO_UID and SUDO_GID, PKEXEC_UID). Nothing: the command runs as
/// cgpuctl does, and so it does for root. Refused (usage): there is no such user.
[[nodiscard]] Result<std::optional<JobUser>> job_user(std::string_view asked, const Variables& environment);

/// Makes this process the user's: groups, group, user, and HOME, USER, LOGNAME and SHELL. Not to be undone.
/// Fails where the process isn't root.
[[nodiscard]] Result<void> become(const JobUser& user);

}  // namespace cgpu::client
