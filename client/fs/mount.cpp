#include "client/fs/mount.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "client/fs/operations.hpp"
#include "client/run/files/mount_table.hpp"

namespace cgpu::fs {
namespace {

using client::ClientError;

tl::unexpected<ClientError> cannot(const std::string& what, const std::string& why,
                                   const std::string& remedy) {
    return client::fail(ClientError::Kind::failed, what + ": " + why + ". Try: " + remedy + ".");
}

client::Result<void> prepare(const std::string& folder) {
    struct stat info {};
    // The process that served it has been killed.
    if (stat(folder.c_str(), &info) != 0 && errno == ENOTCONN && umount2(folder.c_str(), MNT_DETACH) != 0)
        return cannot(folder,
                      std::string("what is left of an earlier cgpu-fs can't be unmounted (") +
                          std::strerror(errno) + ")",
                      "umount -l " + folder);
    std::error_code error;
    // Only the last folder: /run/cgpu is cgpud's, and must not become root's.
    std::filesystem::create_directory(folder, error);
    if (error)
        return cannot(folder, "the folder can't be made (" + error.message() + ")",
                      "start cgpud first, and run cgpu-fs as root");
    const auto mounts = client::mounts_here();
    if (!mounts) return tl::unexpected(mounts.error());
    for (const client::Mount& mount : *mounts)
        if (mount.point == folder)
            return cannot(folder, "something is mounted there already",
                          "umount " + folder + ", or give another folder");
    return {};
}

/// Arguments as a command line would have them, for fuse's own parser.
class Arguments {
  public:
    Arguments() {
        for (const char* each : {"cgpu-fs", "-oallow_other,default_permissions,nosuid,nodev,noexec",
                                 "-ofsname=cgpu,subtype=cgpu"})
            fuse_opt_add_arg(&all_, each);
    }
    ~Arguments() { fuse_opt_free_args(&all_); }
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;
    fuse_args* get() { return &all_; }

  private:
    fuse_args all_ = FUSE_ARGS_INIT(0, nullptr);
};

struct Destroy {
    void operator()(fuse* handle) const { fuse_destroy(handle); }
};

/// The minor number, by which mounts without a disk are told apart: their major is 0. The tree itself can't
/// be asked before it is served.
unsigned device_of(const std::string& folder) {
    unsigned device = 0;
    const auto mounts = client::mounts_here();
    for (const auto& mount : mounts ? *mounts : std::vector<client::Mount>()) {
        if (mount.point != folder) continue;
        device = static_cast<unsigned>(
            std::strtoul(mount.device.c_str() + mount.device.find(':') + 1, nullptr, 10));
    }
    return device;
}

}  // namespace

client::Result<void> serve(NodeView& view, const std::string& folder) {
    if (auto prepared = prepare(folder); !prepared) return prepared;
    Sweeper sweeper(view, folder);
    Served served{view, sweeper};
    timespec_get(&served.mounted, TIME_UTC);
    Arguments arguments;
    const std::unique_ptr<fuse, Destroy> handle(
        fuse_new(arguments.get(), &operations(), sizeof(fuse_operations), &served));
    if (handle == nullptr) return cannot("cgpu-fs", "libfuse can't begin", "install the package fuse3");
    if (fuse_mount(handle.get(), folder.c_str()) != 0)
        return cannot(folder, "it can't be mounted",
                      "run it as root, with the kernel's module fuse loaded "
                      "(modprobe fuse)");
    served.major = device_of(folder);
    sweeper.start();
    fuse_session* session = fuse_get_session(handle.get());
    fuse_set_signal_handlers(session);
    sd_notify(0, "READY=1");
    fuse_loop_config config{};
    config.max_idle_threads = 4;
    const int ended = fuse_loop_mt(handle.get(), &config);
    fuse_remove_signal_handlers(session);
    sweeper.stop();
    fuse_unmount(handle.get());
    rmdir(folder.c_str());  // fails if it had files before
    if (ended < 0)
        return cannot(folder, std::string("serving it failed (") + std::strerror(-ended) + ")",
                      "start cgpu-fs again");
    return {};
}

}  // namespace cgpu::fs
