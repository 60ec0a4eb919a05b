#include "client/run/job/job_user.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "core/model/quote.hpp"

namespace cgpu::client {
namespace {

using Kind = ClientError::Kind;

/// A user or group id. The largest value means "unchanged" to the kernel.
std::optional<uid_t> read_id(std::string_view text) {
    uid_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && id != std::numeric_limits<uid_t>::max() ? std::optional(id) : std::nullopt;
}

std::optional<uid_t> id_in(const Variables& environment, const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : read_id(found->second);
}

JobUser user_of(const passwd& entry) {
    return {entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir, entry.pw_shell};
}

std::optional<JobUser> user_with(uid_t uid) {
    const passwd* entry = getpwuid(uid);
    return entry == nullptr ? std::nullopt : std::optional(user_of(*entry));
}

tl::unexpected<ClientError> cannot_become(const JobUser& user) {
    const int error = errno;
    return fail(error == EPERM ? Kind::not_authorized : Kind::failed,
                "user " + (user.name.empty() ? std::to_string(user.uid) : user.name) +
                    ": the command can't run as it: " + std::strerror(error) +
                    ". Try: run it as root (sudo).");
}

}  // namespace

Result<std::optional<JobUser>> job_user(std::string_view asked, const Variables& environment) {
    std::optional<JobUser> user;
    if (!asked.empty()) {
        const passwd* entry = getpwnam(std::string(asked).c_str());
        if (entry != nullptr) user = user_of(*entry);
        if (const auto uid = entry == nullptr ? read_id(asked) : std::nullopt) user = user_with(*uid);
        if (!user)
            return fail(
                Kind::usage,
                "--user " + model::quote(asked) +
                    ": this system has no such user. Try: use a name or an id that `getent passwd` shows.");
    } else {
        auto uid = id_in(environment, "SUDO_UID");
        if (!uid) uid = id_in(environment, "PKEXEC_UID");
        if (!uid) return std::nullopt;
        user = user_with(*uid);
        // sudo has checked the user, even if the system doesn't know the id by now.
        if (!user) user = JobUser{*uid, id_in(environment, "SUDO_GID").value_or(*uid), {}, {}, {}};
    }
    return user->uid == 0 ? std::nullopt : user;
}

Result<void> become(const JobUser& user) {
    const bool grouped =
        user.name.empty() ? setgroups(1, &user.gid) == 0 : initgroups(user.name.c_str(), user.gid) == 0;
    if (!grouped || setresgid(user.gid, user.gid, user.gid) != 0 ||
        setresuid(user.uid, user.uid, user.uid) != 0)
        return cannot_become(user);
    const auto say = [](const char* name, const std::string& value) {
        if (!value.empty()) setenv(name, value.c_str(), 1);
    };
    say("HOME", user.home);
    say("USER", user.name);
    say("LOGNAME", user.name);
    say("SHELL", user.shell);
    return {};
}

}  // namespace cgpu::client
