// A new daemon takes over the state of the old one.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/daemon/link/support/link_bed.hpp"
#include "tests/unit/daemon/system/processes/mounted_child.hpp"

namespace cgpu::link::test {
namespace {

struct LinkRestart : LinkTest {
    /// -1: none is kept of this instance.
    int kept_socket(const std::string& id) const {
        for (const auto& [name, fd] : descriptors.kept)
            if (name.starts_with("link-5-") && name.ends_with("-" + id)) return fd;
        return -1;
    }
};

TEST_F(LinkRestart, LeasesAreTheSameAndAThirdProcessCanNotExceedTheLimit) {
    Puppet first(loop);
    Puppet second(loop);
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    ASSERT_EQ(first.ask(60 * kMiB), 60 * kMiB);
    first.charge(60 * kMiB);
    ASSERT_EQ(second.ask(20 * kMiB), 24 * kMiB);
    second.charge(20 * kMiB);
    struct stat before {};
    ASSERT_EQ(stat((runtime_dir / "instances/one/link").c_str(), &before), 0);
    stop();
    EXPECT_TRUE(divider.pages.empty());
    start();
    struct stat after {};
    ASSERT_EQ(stat((runtime_dir / "instances/one/link").c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino) << "containers have this very folder mounted";
    EXPECT_EQ(leased(one), 84 * kMiB);
    EXPECT_FALSE(server->idle(one.id));

    Puppet third(loop);
    ASSERT_TRUE(third.connect(socket(one)));
    EXPECT_EQ(third.ask(40 * kMiB), 0U);
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    EXPECT_EQ(leased(one), 84 * kMiB);
    EXPECT_EQ(third.ask(40 * kMiB), 0U);
    EXPECT_EQ(third.ask(20 * kMiB), 20 * kMiB) << "4 MiB of it recalled";
    EXPECT_LE(leased(one), 100 * kMiB);
}

TEST_F(LinkRestart, AProcessThatSaysHelloWhileNoDaemonRunsIsWelcomedByTheNext) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    stop();
    Puppet::Order order{[](Front& front, const Puppet::Order& o) -> std::uint64_t {
        return front.connect(o.text) && front.hello(wire::Role::compute) == wire::Why::none ? 1 : 0;
    }};
    wire::put_text(order.text, socket(one));
    puppet.start(order);
    pollfd waiting{kept_socket("one"), POLLIN, 0};
    ASSERT_EQ(poll(&waiting, 1, 20'000), 1);
    EXPECT_FALSE(puppet.result()) << "it is neither refused nor welcomed";
    start();
    std::optional<std::uint64_t> welcomed;
    ASSERT_TRUE(loop.run_until([&] { return (welcomed = puppet.result()).has_value(); }));
    EXPECT_EQ(*welcomed, 1U);
    EXPECT_EQ(puppet.ask(20 * kMiB), 32 * kMiB);
}

TEST_F(LinkRestart, ASocketThatProcessesCanNotReachIsNotTakenOver) {
    stop();
    // Another socket is at its path.
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket(one).copy(address.sun_path, sizeof address.sun_path - 1);
    unlink(address.sun_path);
    const int other = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(other, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    close(other);
    start();
    Puppet puppet(loop);
    EXPECT_TRUE(puppet.connect(socket(one)));
}

TEST_F(LinkRestart, TheSocketOfAnInstanceThatEndedIsNotKept) {
    EXPECT_GE(kept_socket("one"), 0);
    server->close(one.id);
    EXPECT_EQ(kept_socket("one"), -1);
    EXPECT_GE(kept_socket("two"), 0);
}

TEST_F(LinkRestart, WhatWasOnItsWayBelongsToNobodyForLong) {
    Puppet first(loop);
    Puppet second(loop);
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    ASSERT_EQ(first.ask(80 * kMiB), 80 * kMiB);
    first.charge(10 * kMiB);
    // It has returned 30 MiB, or never received them: the packet was lost with the daemon.
    stop();
    start();
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    first.tell({[](Front& front, const Puppet::Order&) -> std::uint64_t {
        front.lease = 50 * kMiB;
        return front.ask(wire::Topic::lease_held, front.lease).has_value() ? 1 : 0;
    }});
    EXPECT_EQ(leased(one), 50 * kMiB);
    EXPECT_EQ(second.ask(50 * kMiB), 50 * kMiB) << "and nobody has to be asked for it";
    // A process can't claim more than it was granted.
    first.tell({[](Front& front, const Puppet::Order&) -> std::uint64_t {
        return front.ask(wire::Topic::lease_held, 90 * kMiB).has_value() ? 1 : 0;
    }});
    EXPECT_EQ(leased(one), 100 * kMiB);
}

TEST_F(LinkRestart, AnAskThatNeedsARecallWaitsForTheSiblingToComeBack) {
    Puppet first(loop);
    Puppet second(loop);
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    ASSERT_EQ(first.ask(90 * kMiB), 90 * kMiB);
    first.charge(10 * kMiB);
    stop();
    start();
    ASSERT_TRUE(second.connect(socket(one)));
    second.start({[](Front& front, const Puppet::Order&) -> std::uint64_t {
        const auto answer = front.ask(wire::Topic::lease, 60 * kMiB);
        return answer ? answer->granted_bytes : 0;
    }});
    loop.settle();
    EXPECT_FALSE(second.result());
    ASSERT_TRUE(first.connect(socket(one)));
    std::optional<std::uint64_t> granted;
    ASSERT_TRUE(loop.run_until([&] { return (granted = second.result()).has_value(); }));
    EXPECT_EQ(*granted, 60 * kMiB);
}

TEST_F(LinkRestart, ProcessesThatEndedMeanwhileOrNeverComeBackAreNoticed) {
    Puppet ended(loop);
    Puppet stays(loop);
    ASSERT_TRUE(ended.connect(socket(one)));
    ASSERT_TRUE(stays.connect(socket(one)));
    ASSERT_EQ(ended.ask(20 * kMiB), 32 * kMiB);
    ASSERT_EQ(stays.ask(20 * kMiB), 32 * kMiB);
    stop();
    ended.kill();
    start();
    ASSERT_TRUE(loop.run_until([&] { return leased(one) == 32 * kMiB; }));
    stays.kill();
    ASSERT_TRUE(loop.run_until([&] { return leased(one) == 0; }))
        << "by its pidfd, though it never connected again";
    EXPECT_TRUE(loop.run_until([&] { return idle.contains(one.id); }));
}

TEST_F(LinkRestart, FoldersAndLeasesOfUnknownInstancesAreRemoved) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(two)));
    ASSERT_EQ(puppet.ask(20 * kMiB), 32 * kMiB);
    stop();
    two.generation = 6;  // a new container of the same id
    std::filesystem::create_directories(runtime_dir / "instances/stale/link");
    std::ofstream(runtime_dir / "instances/stale/link/socket").close();
    start();
    EXPECT_TRUE(loop.run_until([&] { return !std::filesystem::exists(runtime_dir / "instances/stale"); }));
    EXPECT_EQ(leased(two), 0U);
    EXPECT_TRUE(file->saved().empty());
    ASSERT_TRUE(puppet.connect(socket(two)));
}

/// The state that would have this instance may be put back.
TEST_F(LinkRestart, TheFolderOfAnUnknownInstanceStaysAsLongAsAProcessHasItMounted) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
    stop();
    const auto folder = runtime_dir / "instances/lost";
    for (const char* each : {"lost", "stale"})
        std::filesystem::create_directories(runtime_dir / "instances" / each / "link");
    const auto child = system::test::fork_with_mount(folder / "link");
    start();
    EXPECT_TRUE(loop.run_until([&] { return !std::filesystem::exists(runtime_dir / "instances/stale"); }));
    stop();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "link"));
    start();
    EXPECT_TRUE(loop.run_until([&] { return !std::filesystem::exists(folder); }));
}

TEST_F(LinkRestart, ADamagedLeaseFileCountsByTheDriver) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_GE(puppet.ask(80 * kMiB), 80 * kMiB);
    puppet.charge(80 * kMiB);
    gpus.shown[puppet.pid()] = 80 * kMiB;
    stop();
    std::ofstream(runtime_dir / "leases") << "nonsense";
    start();
    EXPECT_TRUE(file->damaged());
    ASSERT_TRUE(puppet.connect(socket(one)));
    EXPECT_EQ(puppet.ask(40 * kMiB), 0U);
    ASSERT_TRUE(loop.run_until([&] { return leases->pools().used(one.id, one.quotas[0].gpu) == 80 * kMiB; }));
    EXPECT_GE(puppet.ask(10 * kMiB), 10 * kMiB);
}

}  // namespace
}  // namespace cgpu::link::test
