#include "client/run/mounts/fronts.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "client/run/files/mount_calls.hpp"
#include "client/run/files/same_file.hpp"
#include "client/run/files/sealed_copy.hpp"
#include "client/run/mounts/hand_over.hpp"
#include "client/run/mounts/mount_plan.hpp"
#include "client/run/mounts/mounts.hpp"

namespace cgpu::client {
namespace {

/// The file that a path of the host leads to, if it is that one. `path` may be what an image names, so it is
/// walked only where the mount table says that the host's mounts show the file there: then no automount is
/// triggered, and nothing but that file can be opened.
Descriptor find_on_host(const std::string& path, const Descriptor& inside, const FileId& id) {
    const auto mount = mount_of_file(inside);
    std::error_code failed;
    const auto shown = std::filesystem::read_symlink(by_descriptor(inside), failed);
    const auto mounts = mounts_here();
    if (!mount || failed || !mounts || !is_shown_at(*mounts, *mount, shown.native(), path))
        return Descriptor();
    const auto host = Root::open("/");
    if (!host) return Descriptor();
    Descriptor there = host->find_real(path, O_PATH);
    return id_of_file(there) == id ? std::move(there) : Descriptor();
}

/// Opens a file of the host for reading, by a copy of its folder's mount that is read-only: the processes
/// that get the descriptor can open it again by /proc, with the rights of the mount by which it was opened,
/// and root in a container is the owner of root's files. Empty: this kernel, or this namespace, doesn't allow
/// it.
Descriptor open_read_only(const std::string& path, const FileId& id) {
    const auto host = Root::open("/");
    if (!host) return Descriptor();
    const std::filesystem::path file(path);
    const Descriptor folder = host->find_real(file.parent_path().native(), O_PATH | O_DIRECTORY);
    if (!folder) return Descriptor();
    const Descriptor copy = copy_mount(folder);
    if (!copy || !make_mount_read_only(copy)) return Descriptor();
    const Descriptor there(openat(copy.fd(), file.filename().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (id_of_file(there) != id) return Descriptor();
    return Descriptor(open(by_descriptor(there).c_str(), O_RDONLY | O_CLOEXEC));
}

/// Opens the library by the host's mount where that shows it at the same path: the one in the container may
/// disappear soon, and /proc/PID/maps would show its file without a path.
DriverFile open_library(wire::Library library, const LibraryFile& real, const Root& root) {
    Descriptor inside = root.find_real(real.path, O_PATH);
    if (id_of_file(inside) != real.id) return {library, Descriptor(), ""};
    // Only now, when it is known to be a regular file, is it opened for reading.
    if (find_on_host(real.path, inside, real.id))
        if (Descriptor file = open_read_only(real.path, real.id))
            return {library, std::move(file), real.path};
    Descriptor file(open(by_descriptor(inside).c_str(), O_RDONLY | O_CLOEXEC));
    // From an engine that isn't root's, cgpud takes no file that it can't open by itself: the user may serve
    // its file system, and never answer.
    if (file && has_users_of_its_own()) file = sealed_copy(file, "driver");
    return {library, std::move(file), "in the container: " + real.path};
}

Result<std::vector<DriverFile>> open_files(const std::vector<DriverLibrary>& driver, const Root& root) {
    std::vector<DriverFile> files;
    for (const DriverLibrary& each : driver) {
        if (each.hidden) continue;
        const auto library = each.soname == "libcuda.so.1" ? wire::Library::cuda : wire::Library::nvml;
        DriverFile file = open_library(library, each.real, root);
        if (!file.file)
            return fail(
                ClientError::Kind::failed,
                each.real.path + ": it can't be read. Try: check whether the driver is just being changed.");
        files.push_back(std::move(file));
    }
    return files;
}

}  // namespace

Result<void> put_fronts_before(const std::vector<DriverLibrary>& driver, const std::string& link_folder,
                               const Root& root) {
    // The files are opened before the fronts cover them.
    const auto files = open_files(driver, root);
    if (!files) return tl::unexpected(files.error());
    if (auto handed = hand_over(link_folder, *files); !handed) return handed;
    return make_mounts(plan_mounts(driver, link_folder, {}), root);
}

}  // namespace cgpu::client
