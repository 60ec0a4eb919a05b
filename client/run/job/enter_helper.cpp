#include "client/run/job/enter_helper.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "client/run/job/start_command.hpp"

namespace cgpu::client {
namespace {

tl::unexpected<ClientError> only_root(const std::string& why) {
    return fail(
        ClientError::Kind::not_authorized,
        "cgpuctl run: only root may make the command's mounts, and " + why + ". Try: sudo cgpuctl run ….");
}

}  // namespace

Result<void> check_enter_helper(const std::string& helper) {
    struct stat info {};
    struct statvfs system {};
    if (stat(helper.c_str(), &info) != 0 || statvfs(helper.c_str(), &system) != 0)
        return only_root(helper + ", which does it for users, can't be found: " + std::strerror(errno));
    if (info.st_uid != 0 || (info.st_mode & S_ISUID) == 0)
        return only_root(helper + ", which does it for users, is not set-uid root here");
    if ((system.f_flag & ST_NOSUID) != 0)
        return only_root(helper + ", which does it for users, lies on a file system that is mounted nosuid");
    if (access(helper.c_str(), X_OK) != 0)
        return only_root(helper + ", which does it for users, may not be executed by you");
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return only_root("this process may not gain rights (no_new_privs, as in a sandbox), so " + helper +
                         " can't do it");
    return {};
}

ClientError become_enter_helper(const std::string& instance, const std::vector<std::string>& command) {
    std::vector<std::string> words = {kEnterHelper, instance};
    words.insert(words.end(), command.begin(), command.end());
    execv(kEnterHelper, as_exec_takes(words).data());
    return {ClientError::Kind::failed,
            std::string(kEnterHelper) + ": " + std::strerror(errno) + ". Try: reinstall cgpu."};
}

}  // namespace cgpu::client
