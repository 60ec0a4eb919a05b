#include "client/enter/own_copies.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "client/enter/privilege.hpp"
#include "client/run/files/tree.hpp"
#include "client/run/mounts/mount_plan.hpp"

namespace cgpu::enter {
namespace {

using client::ClientError;
using client::Descriptor;
using client::DriverLibrary;

tl::unexpected<ClientError> rights_stay() {
    return client::fail(ClientError::Kind::failed,
                        "cgpu-enter: it can't look up files with the caller's rights. Try: sudo cgpuctl run "
                        "….");
}

/// Symbolic links on the path could lead the mount to another file, so none is allowed.
client::Result<Descriptor> open_copy(const Copy& copy, const client::Root& root) {
    const AsCaller caller;
    if (!caller.works()) return rights_stay();
    Descriptor file = root.find_real(copy.file, O_PATH);
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
        return client::fail(
            ClientError::Kind::refused,
            copy.file + ": it was exchanged while the job was being started. Try: run the command again.");
    return file;
}

}  // namespace

client::Result<std::vector<Copy>> own_copies(const client::Root& root,
                                             const client::LoaderEnvironment& environment,
                                             const std::vector<DriverLibrary>& system) {
    const AsCaller caller;
    if (!caller.works()) return rights_stay();
    const auto found = client::find_driver(root, environment);
    if (!found) return tl::unexpected(found.error());
    std::vector<Copy> copies;
    for (const DriverLibrary& library : *found) {
        const auto same = std::find_if(system.begin(), system.end(), [&](const DriverLibrary& other) {
            return other.soname == library.soname && other.hidden == library.hidden;
        });
        // Without a front of the system there is nothing to mount over the copy. That only happens for NVML,
        // which can't use anything of a GPU.
        if (same == system.end() && !library.hidden) continue;
        for (const std::string& file : library.files)
            if (same == system.end() ||
                std::find(same->files.begin(), same->files.end(), file) == same->files.end())
                copies.push_back({client::cover_of(library), file});
    }
    return copies;
}

client::Result<void> cover(const std::vector<Copy>& copies, const client::Root& root) {
    for (const Copy& copy : copies) {
        const auto tree = client::Tree::take(root.find(copy.cover, O_PATH), copy.cover);
        if (!tree) return tl::unexpected(tree.error());
        const auto file = open_copy(copy, root);
        if (!file) return tl::unexpected(file.error());
        if (auto attached = tree->attach(*file, copy.file); !attached) return attached;
    }
    return {};
}

}  // namespace cgpu::enter
