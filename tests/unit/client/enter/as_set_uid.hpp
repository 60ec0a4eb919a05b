#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace cgpu::enter {

constexpr uid_t kUser = 65534;

/// Runs `body`, which returns whether its checks passed, in a process with the ids of a set-uid program of
/// root that the user started: the user's real ids and root's effective one. False: a check failed, or the
/// process died. Needs root.
template <class Body>
bool as_set_uid_of_user(Body body) {
    const pid_t child = fork();
    if (child == 0) {
        const bool is_like_one = setresgid(kUser, kUser, kUser) == 0 && setresuid(kUser, 0, 0) == 0;
        _exit(is_like_one && body() ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace cgpu::enter
