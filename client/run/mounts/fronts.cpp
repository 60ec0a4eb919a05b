#include "client/run/mounts/fronts.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "client/run/mounts/hand_over.hpp"
#include "client/run/mounts/mount_plan.hpp"
#include "client/run/mounts/mounts.hpp"

namespace cgpu::client {
namespace {

bool is_same(const Descriptor& one, const Descriptor& other) {
    struct stat first {};
    struct stat second {};
    return fstat(one.get(), &first) == 0 && fstat(other.get(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// If the host has the very file at that path, opens it by the host's mount: the one in the container may
/// disappear soon, and /proc/PID/maps would show its file without a path.
Descriptor open_library(const std::string& path, const Root& root) {
    Descriptor inside = root.find_file(path);
    Descriptor host(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    return inside && host && is_same(inside, host) ? std::move(host) : std::move(inside);
}

Result<std::vector<DriverFile>> open_files(const std::vector<DriverLibrary>& driver, const Root& root) {
    std::vector<DriverFile> files;
    for (const DriverLibrary& each : driver) {
        if (each.hidden) continue;
        const auto library = each.soname == "libcuda.so.1" ? wire::Library::cuda : wire::Library::nvml;
        DriverFile file{library, open_library(each.real, root), each.real};
        if (!file.file)
            return fail(
                ClientError::Kind::failed,
                each.real + ": it can't be read. Try: check whether the driver is just being changed.");
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
