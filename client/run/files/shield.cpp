#include "client/run/files/shield.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "client/run/files/mount_calls.hpp"
#include "client/run/files/mount_table.hpp"
#include "client/run/files/tree.hpp"

namespace cgpu::client {
namespace {

/// The folders on the way to a file, from the top, without "/".
std::vector<std::string> folders_on_the_way(const std::string& path) {
    std::vector<std::string> folders;
    for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
        folders.push_back(path.substr(0, slash));
    return folders;
}

bool is_written_by_root_alone(const Descriptor& folder) {
    struct stat info {};
    return fstat(folder.fd(), &info) == 0 && info.st_uid == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool receives_mounts(const std::vector<Mount>& mounts, std::uint64_t id) {
    return std::ranges::any_of(
        mounts, [id](const Mount& mount) { return mount.id == id && (mount.slave || mount.shared); });
}

Result<void> bind_over_itself(const Descriptor& folder, const std::string& name) {
    if (auto kept = keep_in_namespace(folder, name); !kept) return kept;
    const Descriptor copy = copy_mount(folder, Below::included);
    if (!copy || !attach_mount(copy, folder)) return mount_failed("mounting over " + name, errno);
    if (mount(nullptr, by_descriptor(copy).c_str(), nullptr, MS_PRIVATE | MS_REC, nullptr) != 0)
        return mount_failed("keeping " + name + " to the container", errno);
    return {};
}

}  // namespace

Result<void> shield(const std::string& path, const Root& root) {
    const auto mounts = mounts_here();
    if (!mounts) return tl::unexpected(mounts.error());
    const auto folders = folders_on_the_way(path);
    std::vector<Descriptor> opened;
    for (const std::string& folder : folders) {
        opened.push_back(root.find_real(folder, O_PATH | O_DIRECTORY));
        if (!opened.back()) return mount_failed("finding " + folder, errno);
        if (root.is_own() && !is_written_by_root_alone(opened.back())) return {};
    }
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const auto place = mount_place(opened[i]);
        if (!place) return mount_failed("finding the mount of " + folders[i], errno);
        const bool leave_root = !root.is_own() && place->is_root && i + 1 < folders.size();
        if (!leave_root && receives_mounts(*mounts, place->mount))
            return bind_over_itself(opened[i], folders[i]);
    }
    return {};
}

}  // namespace cgpu::client
