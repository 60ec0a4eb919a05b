#include "client/run/mounts/mounts.hpp"

#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/run/driver/front_image.hpp"
#include "client/run/files/tree.hpp"

namespace cgpu::client {
namespace {

Result<Tree> take(const Bind& bind, const Root& root) {
    if (bind.side == Bind::Side::inside) return Tree::take(root.find(bind.from, O_PATH), bind.from);
    return Tree::take(Descriptor(open(bind.from.c_str(), O_PATH | O_CLOEXEC)), bind.from);
}

Result<void> cover_base(const std::string& base, const Root& root) {
    const Descriptor folder = root.make_folder(base);
    if (!folder) return mount_failed("making " + base, errno);
    if (auto kept = keep_in_namespace(folder, base); !kept) return kept;
    // Large enough for two fronts; libraries are executed from it, so it is not noexec as /run may be.
    if (mount("cgpu", by_descriptor(folder).c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64m") !=
        0)
        return mount_failed("mounting over " + base, errno);
    return {};
}

Result<void> write_library(const std::string& path, std::span<const std::byte> image, const Root& root) {
    const Descriptor file = root.make_file(path);
    std::size_t done = 0;
    while (file && done < image.size()) {
        const ssize_t wrote = write(file.get(), image.data() + done, image.size() - done);
        if (wrote <= 0) return mount_failed("writing " + path, errno);
        done += static_cast<std::size_t>(wrote);
    }
    if (!file || fchmod(file.get(), 0755) != 0) return mount_failed("writing " + path, errno);
    return {};
}

/// The job's user must be able to read the files made for the job, whatever the caller's umask. The job gets
/// that umask.
class OpenUmask {
  public:
    OpenUmask() : before_(umask(S_IWGRP | S_IWOTH)) {}
    ~OpenUmask() { umask(before_); }
    OpenUmask(const OpenUmask&) = delete;
    OpenUmask& operator=(const OpenUmask&) = delete;

  private:
    mode_t before_;
};

/// Everything that must be read before the mounts below cover it.
struct Sources {
    std::vector<Tree> trees;
    std::vector<FrontImage> fronts;
    std::vector<std::pair<Tree, std::string>> drivers;  ///< for older fronts: the file, and where to mount it
};

Result<Sources> take_all(const MountPlan& plan, const Root& root) {
    Sources sources;
    for (const Bind& bind : plan.inside) {
        auto tree = take(bind, root);
        if (!tree) return tl::unexpected(tree.error());
        sources.trees.push_back(std::move(*tree));
    }
    for (const FittedFront& front : plan.fronts) {
        auto image = fit_front(front.front, root.find_file(front.driver), front.driver);
        if (!image) return tl::unexpected(image.error());
        if (!image->has_all) {
            auto driver = take({front.driver, front.driver_path}, root);
            if (!driver) return tl::unexpected(driver.error());
            sources.drivers.emplace_back(std::move(*driver), front.driver_path);
        }
        sources.fronts.push_back(std::move(*image));
    }
    return sources;
}

Result<void> attach(const Tree& tree, const std::string& to, const Root& root) {
    if (!(tree.is_folder() ? root.make_folder(to) : root.make_file(to)))
        return mount_failed("making " + to, errno);
    return tree.attach(root.find(to, O_PATH), to);
}

Result<void> fill_base(const MountPlan& plan, const Sources& sources, const Root& root) {
    for (std::size_t i = 0; i < sources.trees.size(); ++i)
        if (auto attached = attach(sources.trees[i], plan.inside[i].to, root); !attached) return attached;
    for (const auto& [driver, path] : sources.drivers)
        if (auto attached = attach(driver, path, root); !attached) return attached;
    for (std::size_t i = 0; i < sources.fronts.size(); ++i)
        if (auto written = write_library(plan.fronts[i].made, sources.fronts[i].image.bytes(), root);
            !written)
            return written;
    return write_library(plan.nothing, {}, root);
}

}  // namespace

Result<void> enter_namespace() {
    if (access(kFrontFolder, F_OK) == 0)
        return fail(ClientError::Kind::refused,
                    "cgpuctl run: this process is inside an instance already. Try: start it from a shell "
                    "outside of the instance.");
    if (unshare(CLONE_NEWNS) != 0) return mount_failed("a mount namespace", errno);
    if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
        return mount_failed("keeping the mounts to the command", errno);
    return {};
}

Result<void> make_mounts(const MountPlan& plan, const Root& root) {
    const OpenUmask open;
    const auto sources = take_all(plan, root);
    if (!sources) return tl::unexpected(sources.error());
    if (auto covered = cover_base(plan.base, root); !covered) return covered;
    if (auto filled = fill_base(plan, *sources, root); !filled) return filled;
    for (const Bind& bind : plan.over) {
        const auto tree = take(bind, root);
        if (!tree) return tl::unexpected(tree.error());
        if (auto taken = take_off_binds(bind.to, root); !taken) return taken;
        if (auto attached = tree->attach(root.find_real(bind.to, O_PATH), bind.to); !attached)
            return attached;
    }
    const Descriptor base = root.find(plan.base, O_PATH);
    constexpr unsigned long kFlags = MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (!base || mount(nullptr, by_descriptor(base).c_str(), nullptr, kFlags, nullptr) != 0)
        return mount_failed("making " + plan.base + " read-only", errno);
    return {};
}

}  // namespace cgpu::client
