#include "client/runtime/hooks/container_gpus.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <optional>

#include "client/run/files/mount_table.hpp"
#include "client/run/files/root.hpp"

namespace cgpu::runtime {
namespace {

using Kind = client::ClientError::Kind;
using client::Root;

constexpr const char* kDevices = "/dev";
/// /dev/nvidia-caps/nvidia-cap1, /dev/dri/by-path/… A /dev may be a volume with any content.
constexpr int kMostDepth = 4;
constexpr std::size_t kMostEntries = 16384;

std::optional<struct stat> look_at(const Root& root, const std::string& path) {
    struct stat info {};
    const auto file = root.find_real(path, O_PATH | O_NOFOLLOW);
    if (!file || fstat(file.fd(), &info) != 0) return std::nullopt;
    return info;
}

void take_in(GpuAccess& access, const struct stat& info) {
    constexpr unsigned kMajor = 195;
    if (!S_ISCHR(info.st_mode)) return;
    if (const auto gpu = gpu_of_numbers(major(info.st_rdev), minor(info.st_rdev)))
        access.nodes.insert(*gpu);
    else if (major(info.st_rdev) == kMajor)
        access.control = true;
}

struct Walk {
    const Root& root;
    GpuAccess& access;
    std::size_t left = kMostEntries;
};

/// False: there is more than it looks at.
bool walk(Walk& all, const std::string& folder, int depth) {
    for (const std::string& name : all.root.names_in(folder)) {
        if (name == "." || name == "..") continue;
        if (all.left-- == 0) return false;
        const std::string path = std::string(folder).append("/").append(name);
        const auto info = look_at(all.root, path);
        if (!info) continue;
        take_in(all.access, *info);
        if (S_ISDIR(info->st_mode) && depth < kMostDepth && !walk(all, path, depth + 1)) return false;
    }
    return true;
}

bool is_hosts(const Root& root) {
    struct stat host {};
    const auto there = look_at(root, kDevices);
    return there && stat(kDevices, &host) == 0 && host.st_dev == there->st_dev &&
           host.st_ino == there->st_ino;
}

}  // namespace

std::string mount_below(const std::string& path, const std::string& root) {
    return path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/'
               ? path.substr(root.size())
               : std::string();
}

Result<GpuAccess> gpus_in_container(const std::string& process, const std::string& root) {
    std::error_code none;
    const auto real = std::filesystem::weakly_canonical(root, none);
    std::string path = none ? root : real.native();
    while (path.ends_with('/')) path.pop_back();
    const auto inside = Root::open(process + "/root" + path);
    const auto mounts = client::read_mount_table(process + "/mountinfo");
    if (!inside || !mounts)
        return client::fail(Kind::failed,
                            "the container: what is in its " + std::string(kDevices) +
                                " can't be read. Try: use runc, and have /proc mounted on the host.");
    GpuAccess access;
    for (const client::Mount& each : *mounts) {
        const std::string mount = mount_below(each.point, path);
        if (mount.empty()) continue;
        if (const auto info = look_at(*inside, mount)) take_in(access, *info);
        const auto name = std::filesystem::path(mount).filename().native();
        access.driver = access.driver || name.starts_with("libcuda.so");
    }
    Walk all{*inside, access};
    if (!is_hosts(*inside) && !walk(all, kDevices, 1))
        return client::fail(Kind::refused,
                            "the container: its " + std::string(kDevices) + " has more than " +
                                std::to_string(kMostEntries) +
                                " entries, so its GPUs can't be told. Try: mount a smaller folder there.");
    return access;
}

}  // namespace cgpu::runtime
