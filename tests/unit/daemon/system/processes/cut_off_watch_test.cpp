#include "daemon/system/processes/cut_off_watch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "daemon/system/event_loop.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"
#include "tests/unit/daemon/system/processes/mounted_child.hpp"

namespace cgpu::system {
namespace {

bool bind(const std::filesystem::path& from, const std::filesystem::path& to) {
    return mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0;
}

/// A child that has a front mounted over `library`, as in a job. `link`: also a link, where fronts look for
/// it.
pid_t fork_with_front(const std::filesystem::path& base, bool link) {
    return test::fork_with_mounts([&] {
        if (mount("cgpu", (base / "room").c_str(), "tmpfs", 0, nullptr) != 0 ||
            mount("run", "/run", "tmpfs", 0, nullptr) != 0)
            return false;
        std::error_code error;
        std::filesystem::create_directories(base / "room/front", error);
        std::filesystem::create_directories(base / "room/instances/3f2a/link", error);
        std::filesystem::create_directories("/run/cgpu/link", error);
        std::ofstream(base / "room/front/libcuda.so.1") << "a front";
        return !error && bind(base / "room/front/libcuda.so.1", base / "library") &&
               (!link || bind(base / "room/instances/3f2a/link", "/run/cgpu/link"));
    });
}

TEST(CutOffWatch, TellsOnceOfARootThatHasAFrontAndNoLink) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
    const cgpu::test::TempFolder folder;
    std::filesystem::create_directory(folder.path() / "room");
    std::ofstream(folder.path() / "library") << "the driver's";
    const pid_t linked = fork_with_front(folder.path(), true);
    const pid_t cut_off = fork_with_front(folder.path(), false);

    EventLoop loop;
    std::vector<std::int32_t> found;
    CutOffWatch watch(loop, [&](std::int32_t pid) { found.push_back(pid); });
    const model::Instance instance{
        *model::InstanceId::parse("0123456789abcdef"), "job", 0, 0, model::Mode::none, {}, std::nullopt};
    watch.instance_known(instance);
    const auto end = loop.at(loop.now() + 5 * CutOffWatch::kEvery / 2, [&] { loop.stop(0); });
    loop.run();
    // Others of the machine may be cut off, too: a lab beside this one.
    EXPECT_EQ(std::count(found.begin(), found.end(), cut_off), 1);
    EXPECT_EQ(std::count(found.begin(), found.end(), linked), 0);
    for (const auto child : {linked, cut_off}) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
}

TEST(CutOffWatch, DoesNotLookWithoutAnInstance) {
    EventLoop loop;
    bool found = false;
    CutOffWatch watch(loop, [&](std::int32_t) { found = true; });
    const model::Instance instance{
        *model::InstanceId::parse("0123456789abcdef"), "job", 0, 0, model::Mode::none, {}, std::nullopt};
    watch.instance_known(instance);
    watch.instance_forgotten(instance.id);
    const auto end = loop.at(loop.now() + CutOffWatch::kEvery + app::kSecond / 2, [&] { loop.stop(0); });
    loop.run();
    EXPECT_FALSE(found);
}

}  // namespace
}  // namespace cgpu::system
