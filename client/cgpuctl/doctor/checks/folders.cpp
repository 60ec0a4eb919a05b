// Whether cgpud can write to its folders.
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <utility>

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/doctor/facts/free_space.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kUser = "cgpu";

/// cgpud's user: of the running one, else the user that its unit names.
uid_t user_of(const Look& look) {
    if (look.service && look.service->uid) return *look.service->uid;
    const passwd* user = getpwnam(kUser);
    return user == nullptr ? 0 : user->pw_uid;
}

Finding check_folder(const Host& host, const char* check, const std::string& folder, uid_t user,
                     const char* effect) {
    const auto opened = host.root().find(folder, O_PATH | O_DIRECTORY);
    struct stat info {};
    if (!opened || fstat(opened.fd(), &info) != 0) {
        if (errno == EACCES) return for_root(check, folder);
        return {Level::problem, check, folder + ": " + std::strerror(errno), effect,
                "systemctl restart cgpud, which makes the folder"};
    }
    // cgpud has no right over other users' files.
    const bool owned = user == 0 || (info.st_uid == user && (info.st_mode & S_IWUSR) != 0);
    if (!owned && (info.st_mode & S_IWOTH) == 0)
        return {Level::problem, check,
                folder + ": cgpud, as user " + std::to_string(user) + ", may not write there", effect,
                "chown " + std::to_string(user) + " " + folder + " && chmod u+rwx " + folder};
    struct statvfs space {};
    if (fstatvfs(opened.fd(), &space) != 0)
        return unchecked(check, folder, std::string("its free space can't be read: ") + std::strerror(errno));
    return judge_space(
        check, folder, effect,
        {(user == 0 ? space.f_bfree : space.f_bavail) * space.f_frsize, space.f_blocks > 0,
         user == 0 ? space.f_ffree : space.f_favail, space.f_files > 0, (space.f_flag & ST_RDONLY) != 0});
}

/// What cgpud has set aside, because it was damaged. People see it in the journal once.
Findings set_aside(const Host& host, const char* check, const std::string& folder,
                   std::initializer_list<const char*> names) {
    Findings findings;
    for (const char* name : names) {
        const auto path = folder + "/" + name;
        if (host.exists(path))
            findings.push_back(
                {Level::warning, check, path + " is there",
                 "cgpud found that file damaged when it was started, and has gone on without it",
                 "look for a fault of the disk (dmesg) and for what cgpud said then "
                 "(journalctl -u cgpud); then remove that file"});
    }
    return findings;
}

/// What was left of a state that is gone.
Findings former_state(const Host& host, const char* check, const std::string& folder) {
    const auto path = folder + "/state.json.former";
    if (!host.exists(path)) return {};
    return {{Level::warning, check, path + " is there",
             "cgpud found no state.json when it was started, and has taken the configuration's settings",
             "if you removed the state, remove that file, too. If it was lost: systemctl stop cgpud, mv " +
                 path + " " + folder + "/state.json, systemctl start cgpud"}};
}

}  // namespace

Findings check_folders(const Look& look) {
    std::string state = "/var/lib/cgpu";
    std::string runtime = "/run/cgpu";
    if (look.examination) {
        state = look.examination->state_dir;
        runtime = look.examination->runtime_dir;
    }
    const uid_t user = user_of(look);
    Findings findings = {
        check_folder(
            look.host, "state folder", state, user,
            "no job or container can be started and no setting changed, because nothing can be saved"),
        check_folder(look.host, "runtime folder", runtime, user,
                     "no job or container can be started, because its link can't be made")};
    for (auto& found : set_aside(look.host, "state folder", state,
                                 {"state.json.damaged", "history.damaged", "history-days.damaged"}))
        findings.push_back(std::move(found));
    for (auto& found : former_state(look.host, "state folder", state)) findings.push_back(std::move(found));
    for (auto& found : set_aside(look.host, "runtime folder", runtime, {"leases.damaged"}))
        findings.push_back(std::move(found));
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
