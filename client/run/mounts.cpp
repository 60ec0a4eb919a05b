#include "client/run/mounts.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/run/fitted_front.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;

tl::unexpected<ClientError> failed(const std::string& what, int error) {
    const std::string remedy = error == EPERM ? "as root and outside of containers"
                                              : "whether the paths are there and the kernel is 5.10 or newer";
    return fail(ClientError::Kind::failed, what + ": " + std::strerror(error) + ". Try: " + remedy + ".");
}

/// A copy of a mount that is not attached anywhere yet.
class Tree {
  public:
    static Result<Tree> take(const std::string& path) {
        const int fd = open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        if (fd < 0) return failed("taking " + path, errno);
        return Tree(fd);
    }
    Tree(Tree&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;
    Tree& operator=(Tree&&) = delete;
    ~Tree() {
        if (fd_ >= 0) ::close(fd_);
    }

    [[nodiscard]] bool is_folder() const {
        struct stat info {};
        return fstat(fd_, &info) == 0 && S_ISDIR(info.st_mode);
    }

    /// Read-only from the moment anybody can use it.
    [[nodiscard]] Result<void> attach(const std::string& path) const {
        if (move_mount(fd_, "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
            return failed("mounting over " + path, errno);
        constexpr unsigned long kFlags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
        if (mount(nullptr, path.c_str(), nullptr, kFlags, nullptr) != 0)
            return failed("making " + path + " read-only", errno);
        return {};
    }

  private:
    explicit Tree(int fd) : fd_(fd) {}
    int fd_;
};

Result<void> enter_namespace() {
    if (unshare(CLONE_NEWNS) != 0) return failed("a mount namespace", errno);
    if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
        return failed("keeping the mounts to the command", errno);
    return {};
}

Result<void> cover_base(const std::string& base) {
    std::error_code error;
    fs::create_directories(base, error);
    if (error) return failed("making " + base, error.value());
    // Big enough for two fronts; libraries are run from it, so it is not noexec as /run may be.
    if (mount("cgpu", base.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64m") != 0)
        return failed("mounting over " + base, errno);
    return {};
}

Result<void> attach_inside(const Tree& tree, const std::string& to) {
    std::error_code error;
    fs::create_directories(tree.is_folder() ? fs::path(to) : fs::path(to).parent_path(), error);
    if (error) return failed("making " + to, error.value());
    if (!tree.is_folder() && !std::ofstream(to)) return failed("making " + to, errno);
    return tree.attach(to);
}

Result<void> attach_all_inside(const MountPlan& plan) {
    std::vector<Tree> trees;
    for (const Bind& bind : plan.inside) {
        auto tree = Tree::take(bind.from);
        if (!tree) return tl::unexpected(tree.error());
        trees.push_back(std::move(*tree));
    }
    if (auto covered = cover_base(plan.base); !covered) return covered;
    for (std::size_t i = 0; i < trees.size(); ++i)
        if (auto attached = attach_inside(trees[i], plan.inside[i].to); !attached) return attached;
    return {};
}

Result<void> cover_driver(const MountPlan& plan) {
    for (const FittedFront& front : plan.fronts)
        if (auto made = write_fitted_front(front); !made) return made;
    for (const Bind& bind : plan.over) {
        const auto tree = Tree::take(bind.from);
        if (!tree) return tl::unexpected(tree.error());
        if (auto attached = tree->attach(bind.to); !attached) return attached;
    }
    return {};
}

}  // namespace

Result<void> make_mounts(const MountPlan& plan) {
    std::error_code ignored;
    if (fs::exists(plan.base + "/driver", ignored))
        return fail(ClientError::Kind::refused,
                    "cgpuctl run: this process is inside an instance already. Try: it from outside.");
    if (auto entered = enter_namespace(); !entered) return entered;
    if (auto attached = attach_all_inside(plan); !attached) return attached;
    if (auto covered = cover_driver(plan); !covered) return covered;
    if (mount(nullptr, plan.base.c_str(), nullptr, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) !=
        0)
        return failed("making " + plan.base + " read-only", errno);
    return {};
}

}  // namespace cgpu::client
