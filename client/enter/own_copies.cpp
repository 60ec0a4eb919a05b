#include "client/enter/own_copies.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/enter/privilege.hpp"
#include "client/run/files/tree.hpp"
#include "client/run/mounts/mount_plan.hpp"

namespace cgpu::enter {
namespace {

using client::ClientError;
using client::DriverLibrary;

tl::unexpected<ClientError> rights_stay() {
    return client::fail(ClientError::Kind::failed,
                        "cgpu-enter: it can't look up files with the caller's rights. Try: sudo cgpuctl run "
                        "….");
}

/// Symbolic links on the path could lead the mount to another file, so none is allowed. What is mounted over
/// is the descriptor that was checked here, whatever becomes of the path.
client::Result<Descriptor> open_copy(const Copy& copy, const client::Root& root) {
    const AsCaller caller;
    if (!caller.works()) return rights_stay();
    Descriptor file = root.find_real(copy.file.path, O_PATH);
    struct stat info {};
    // The inode of a file that was removed may be that of another one by now, so the owner is checked again.
    if (client::id_of_file(file) != copy.file.id || fstat(file.fd(), &info) != 0 || info.st_uid != getuid())
        return client::fail(
            ClientError::Kind::refused,
            copy.file.path +
                ": it was exchanged while the job was being started. Try: run the command again.");
    return file;
}

}  // namespace

client::Result<std::vector<Copy>> own_copies(const client::Root& root,
                                             const client::LoaderEnvironment& environment,
                                             const std::vector<DriverLibrary>& system) {
    const AsCaller caller;
    if (!caller.works()) return rights_stay();
    // What is left uncovered is told by cgpuctl, which has looked before.
    const auto found = client::find_copies(root, environment, system, getuid());
    if (!found) return tl::unexpected(found.error());
    std::vector<Copy> copies;
    for (const DriverLibrary& library : found->libraries)
        for (const client::LibraryFile& file : library.files)
            copies.push_back({client::cover_of(library), file});
    return copies;
}

client::Result<void> cover(const std::vector<Copy>& copies, const client::Root& root) {
    for (const Copy& copy : copies) {
        const auto tree = client::Tree::take(root.find(copy.cover, O_PATH), copy.cover);
        if (!tree) return tl::unexpected(tree.error());
        const auto file = open_copy(copy, root);
        if (!file) return tl::unexpected(file.error());
        if (auto attached = tree->attach(*file, copy.file.path); !attached) return attached;
    }
    return {};
}

}  // namespace cgpu::enter
