#include "client/run/mounts/mounts.hpp"

#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/run/driver/front_image.hpp"
#include "client/run/files/mount_calls.hpp"
#include "client/run/files/shield.hpp"
#include "client/run/files/tree.hpp"

namespace cgpu::client {
namespace {

Result<Tree> take(const Bind& bind, const Root& root) {
    if (bind.side == Bind::Side::inside) return Tree::take(root.find(bind.from, O_PATH), bind.from);
    return Tree::take(Descriptor(open(bind.from.c_str(), O_PATH | O_CLOEXEC)), bind.from);
}

/// The tmpfs below which everything lies that is made for the job. It is reached by its own descriptor only,
/// never by its path: the folder that it covers may lie in a volume, and who shares that may rename it.
class Base {
  public:
    /// Mounts it at `path`, below `root`.
    static Result<Base> cover(const std::string& path, const Root& root) {
        const Descriptor folder = root.make_folder(path);
        if (!folder) return mount_failed("making " + path, errno);
        if (auto kept = keep_in_namespace(folder, path); !kept) return tl::unexpected(kept.error());
        // Large enough for two fronts; libraries are executed from it, so it is not noexec as /run may be.
        Descriptor top = new_tmpfs();
        if (!top) return mount_failed("a file system for " + path, errno);
        if (!attach_mount(top, folder)) return mount_failed("mounting over " + path, errno);
        return Base(path, Root::of_mount(std::move(top)));
    }

    /// A path below `path` as the job sees it, as one in the file system.
    [[nodiscard]] std::string in(const std::string& path) const { return path.substr(path_.size()); }
    [[nodiscard]] const Root& root() const { return root_; }

    /// Makes it read-only. Error (refused): the job would not find it at its path.
    [[nodiscard]] Result<void> finish(const Root& root) const {
        constexpr unsigned long kFlags = MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
        if (mount(nullptr, by_descriptor(root_.folder()).c_str(), nullptr, kFlags, nullptr) != 0)
            return mount_failed("making " + path_ + " read-only", errno);
        const Descriptor there = root.find(path_, O_PATH | O_DIRECTORY);
        const auto found = there ? mount_place(there) : std::nullopt;
        const auto made = mount_place(root_.folder());
        if (!found || !made || found->mount != made->mount || !found->is_root)
            return fail(ClientError::Kind::refused,
                        path_ +
                            ": the folder was renamed or removed while cgpu mounted over it, so it lies in a "
                            "volume that others use. Try: mount that volume at another path.");
        return {};
    }

  private:
    Base(std::string path, Root root) : path_(std::move(path)), root_(std::move(root)) {}
    std::string path_;
    Root root_;
};

Result<void> write_library(const std::string& path, std::span<const std::byte> image, mode_t mode,
                           const Base& base) {
    const Descriptor file = base.root().make_file(base.in(path));
    std::size_t done = 0;
    while (file && done < image.size()) {
        const ssize_t wrote = write(file.fd(), image.data() + done, image.size() - done);
        if (wrote <= 0) return mount_failed("writing " + path, errno);
        done += static_cast<std::size_t>(wrote);
    }
    if (!file || fchmod(file.fd(), mode) != 0) return mount_failed("writing " + path, errno);
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
    std::vector<Image> fronts;
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
        sources.fronts.push_back(std::move(*image));
    }
    return sources;
}

Result<void> attach(const Tree& tree, const std::string& to, const Base& base) {
    const std::string path = base.in(to);
    if (!(tree.is_folder() ? base.root().make_folder(path) : base.root().make_file(path)))
        return mount_failed("making " + to, errno);
    return tree.attach(base.root().find(path, O_PATH), to);
}

Result<void> fill_base(const MountPlan& plan, const Sources& sources, const Base& base) {
    for (std::size_t i = 0; i < sources.trees.size(); ++i)
        if (auto attached = attach(sources.trees[i], plan.inside[i].to, base); !attached) return attached;
    for (std::size_t i = 0; i < sources.fronts.size(); ++i)
        if (auto written = write_library(plan.fronts[i].made, sources.fronts[i].bytes(), 0755, base);
            !written)
            return written;
    // Shells take an executable file without content for a script that succeeds.
    return write_library(plan.nothing, {}, 0644, base);
}

/// What is mounted over must be the file that was judged.
Result<void> expect_same(const Bind& bind, const Root& root) {
    if (!bind.file || id_of_file(root.find_real(bind.to, O_PATH)) == *bind.file) return {};
    return fail(ClientError::Kind::refused,
                bind.to + ": it was exchanged while the job was being started. Try: run the command again.");
}

/// On a host the driver that is loaded is shielded; a copy may lie anywhere, such as below /run, where the
/// job needs what is mounted later. In a container all of its own files are.
Result<void> shield_driver(const MountPlan& plan, const Root& root) {
    for (const FittedFront& front : plan.fronts)
        if (auto shielded = shield(front.driver, root); !shielded) return shielded;
    if (root.is_own()) return {};
    for (const Bind& bind : plan.over)
        if (auto shielded = shield(bind.to, root); !shielded) return shielded;
    return {};
}

/// The cover over each of the driver's files.
Result<void> cover_driver(const MountPlan& plan, const Base& base, const Root& root) {
    for (const Bind& bind : plan.over) {
        const auto tree = Tree::take(base.root().find_real(base.in(bind.from), O_PATH), bind.from);
        if (!tree) return tl::unexpected(tree.error());
        if (auto same = expect_same(bind, root); !same) return same;
        if (auto taken = take_off_binds(bind.to, root); !taken) return taken;
        if (auto attached = tree->attach(root.find_real(bind.to, O_PATH), bind.to); !attached)
            return attached;
    }
    return {};
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
    // Before anything is mounted: it copies the mounts below a folder, and the base must not be such a copy.
    if (auto shielded = shield_driver(plan, root); !shielded) return shielded;
    const auto base = Base::cover(plan.base, root);
    if (!base) return tl::unexpected(base.error());
    if (auto filled = fill_base(plan, *sources, *base); !filled) return filled;
    if (auto covered = cover_driver(plan, *base, root); !covered) return covered;
    return base->finish(root);
}

}  // namespace cgpu::client
