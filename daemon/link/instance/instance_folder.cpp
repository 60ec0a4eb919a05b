#include "daemon/link/instance/instance_folder.hpp"

#include <fcntl.h>
#include <sys/acl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>

#include "files/descriptor.hpp"

namespace cgpu::link {
namespace {

using Acl = std::unique_ptr<std::remove_pointer_t<acl_t>, int (*)(void*)>;

Acl own(acl_t list) { return {list, acl_free}; }

/// The users in the list besides the owner.
std::set<uid_t> users_in(acl_t list) {
    std::set<uid_t> users;
    acl_entry_t entry = nullptr;
    for (int which = ACL_FIRST_ENTRY; acl_get_entry(list, which, &entry) == 1; which = ACL_NEXT_ENTRY) {
        acl_tag_t tag = ACL_UNDEFINED_TAG;
        if (acl_get_tag_type(entry, &tag) != 0 || tag != ACL_USER) continue;
        if (void* user = acl_get_qualifier(entry)) {
            users.insert(*static_cast<uid_t*>(user));
            acl_free(user);
        }
    }
    return users;
}

/// All rights for the owner, search of the folder for the users. False: errno.
bool close_to_all_but(int folder, const std::set<uid_t>& users) {
    if (users.empty()) return fchmod(folder, 0700) == 0;
    std::string text = "u::rwx,g::---,o::---,m::--x";
    for (const uid_t user : users) text += ",u:" + std::to_string(user) + ":--x";
    const auto list = own(acl_from_text(text.c_str()));
    if (!list) return false;
    if (acl_set_fd(folder, list.get()) == 0) return true;
    return errno == EOPNOTSUPP && fchmod(folder, 0711) == 0;
}

/// False: errno.
bool close_folder(const std::filesystem::path& path, std::optional<uid_t> let_in) {
    const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) return false;
    const auto list = own(acl_get_fd(folder.fd()));
    auto users = list ? users_in(list.get()) : std::set<uid_t>();
    if (let_in) users.insert(*let_in);
    return close_to_all_but(folder.fd(), users);
}

tl::unexpected<model::Refusal> refuse(const std::filesystem::path& path, int error) {
    return model::refuse(model::Refusal::Reason::storage, "instance folder " + path.string(),
                         std::generic_category().message(error),
                         "make its parent a folder that cgpud may write to");
}

}  // namespace

app::Result<InstanceFolder> InstanceFolder::open(std::filesystem::path path) {
    std::error_code error;
    // Users must get through to the folders that they were let into.
    if (std::filesystem::create_directories(path.parent_path(), error))
        std::filesystem::permissions(path.parent_path(), std::filesystem::perms(0755), error);
    if (error) return refuse(path, error.value());
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return refuse(path, errno);
    if (!close_folder(path, std::nullopt)) return refuse(path, errno);
    return InstanceFolder(std::move(path));
}

app::Result<void> InstanceFolder::let_in(uid_t user) {
    // Root and the owner have access anyway.
    if (user == 0 || user == geteuid()) return {};
    if (!close_folder(path_, user)) return refuse(path_, errno);
    return {};
}

}  // namespace cgpu::link
