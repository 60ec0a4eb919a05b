#include "client/modules/module_folder.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "client/modules/refused.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;
using Kind = ClientError::Kind;

constexpr std::string_view kWorkplace = ".cgpuctl.";

tl::unexpected<ClientError> failed_to(const std::string& what, const fs::path& path) {
    return fail(Kind::failed, path.native() + ": it can't be " + what + ": " +
                                  std::generic_category().message(errno) +
                                  ". Try: check whether the disk is full or read-only.");
}

tl::unexpected<ClientError> there_already(const fs::path& path) {
    return fail(
        Kind::refused,
        path.native() +
            ": this version is there already, and a version never changes. Try: cgpuctl module verify " +
            path.filename().native() + ".");
}

void remove_leftovers(const bundle::RootOwnedFile& folder) {
    std::error_code ignored;
    for (const std::string& name : folder.names().value_or(std::vector<std::string>()))
        if (name.starts_with(kWorkplace)) fs::remove_all(fs::path(folder.path()) / name, ignored);
}

}  // namespace

Result<ModuleFolder> ModuleFolder::lock(const fs::path& path) {
    if (geteuid() != 0)
        return fail(
            Kind::not_authorized,
            path.native() +
                ": only root may change which modules are installed. Try: run it with sudo, or as root.");
    std::error_code none;
    if (fs::status(path, none).type() == fs::file_type::not_found)
        return fail(Kind::not_found,
                    path.native() +
                        ": there is no such folder for versions of the module. Try: install the "
                        "package cgpu, or name another by --folder.");
    auto folder = bundle::RootOwnedFile::open_folder(fs::absolute(path, none).native());
    if (!folder) return refused(folder.error());
    if (flock(folder->descriptor(), LOCK_EX | LOCK_NB) != 0)
        return fail(
            Kind::try_again,
            path.native() + ": another cgpuctl is changing it. Try: run the command again in a moment.");
    remove_leftovers(*folder);
    std::string workplace = folder->path() + "/" + std::string(kWorkplace) + "XXXXXX";
    if (mkdtemp(workplace.data()) == nullptr) return failed_to("written to", folder->path());
    return ModuleFolder(std::move(*folder), workplace);
}

ModuleFolder::~ModuleFolder() {
    std::error_code ignored;
    if (!workplace_.empty()) fs::remove_all(workplace_, ignored);
}

fs::path ModuleFolder::of(const upgrade::Version& version) const {
    return fs::path(folder_.path()) / version.str();
}

Result<void> ModuleFolder::check_free(const upgrade::Version& version) const {
    std::error_code none;
    if (fs::exists(fs::symlink_status(of(version), none))) return there_already(of(version));
    return {};
}

Result<void> ModuleFolder::move(const fs::path& from, const fs::path& to) {
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0)
        return errno == EEXIST ? there_already(to) : failed_to("renamed", from);
    if (fsync(folder_.descriptor()) != 0) return failed_to("put on the disk", folder_.path());
    return {};
}

Result<void> ModuleFolder::put(const upgrade::Version& version) {
    return move(workplace_ / version.str(), of(version));
}

Result<void> ModuleFolder::take_away(const upgrade::Version& version) {
    return move(of(version), workplace_ / version.str());
}

}  // namespace cgpu::client
