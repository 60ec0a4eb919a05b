// cgpu-people: who a user is, by the system's name service. cgpud starts it, because a name service may take
// seconds, or never answer, and because its modules (NSS) load whatever is configured.
//
// usage: cgpu-people id NUMBER | name NAME
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/people/answer/answer.hpp"

namespace {

using cgpu::app::Person;

/// More than Linux gives a process (NGROUPS_MAX).
constexpr int kMostGroups = 65536;

/// Whether the error says that there is none; others say that the name service has failed (getpwnam(3)).
bool says_none(int error) { return error == 0 || error == ENOENT || error == ESRCH; }

/// False: the name service has failed. A group that is left out may be one with a limit.
bool add_groups(Person& person, const char* name, gid_t primary) {
    std::vector<gid_t> ids(64);
    int count = static_cast<int>(ids.size());
    while (getgrouplist(name, primary, ids.data(), &count) < 0) {
        if (count > kMostGroups || count <= static_cast<int>(ids.size())) return false;
        ids.resize(static_cast<std::size_t>(count));
    }
    ids.resize(static_cast<std::size_t>(count));
    for (const gid_t id : ids) {
        errno = 0;
        const group* const found = getgrgid(id);
        if (found == nullptr && !says_none(errno)) return false;
        person.groups.push_back({id, found != nullptr ? found->gr_name : ""});
    }
    return true;
}

}  // namespace

int main(int count, char** words) {
    if (count != 3) return 2;
    const std::string_view kind = words[1];
    errno = 0;
    const passwd* user = nullptr;
    Person person;
    if (kind == "id") {
        char* end = nullptr;
        const auto id = std::strtoull(words[2], &end, 10);
        if (*words[2] == '\0' || *end != '\0' || id >= cgpu::model::kNobody) return 2;
        person.user = static_cast<std::uint32_t>(id);
        user = getpwuid(static_cast<uid_t>(id));
    } else if (kind == "name") {
        user = getpwnam(words[2]);
    } else {
        return 2;
    }
    if (user == nullptr && !says_none(errno)) {
        std::perror("cgpu-people");
        return 1;
    }
    if (user != nullptr) {
        person.user = user->pw_uid;
        person.name = user->pw_name;
        // The entry lies in memory that the next look-up may use again.
        const gid_t primary = user->pw_gid;
        if (!add_groups(person, person.name.c_str(), primary)) {
            std::perror("cgpu-people: the groups");
            return 1;
        }
    }
    const std::string answer = cgpu::people::write_answer(person);
    return std::fwrite(answer.data(), 1, answer.size(), stdout) == answer.size() && std::fflush(stdout) == 0
               ? 0
               : 1;
}
