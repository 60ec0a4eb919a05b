// The members of a link: which processes may send a Hello, and that none is mistaken for another.
#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/daemon/link/support/link_bed.hpp"

namespace cgpu::link::test {
namespace {

/// A process that does nothing until the end of the test.
class Idler {
  public:
    /// `pid`: its pid; 0: any.
    explicit Idler(pid_t pid = 0) {
        clone_args how{};
        how.exit_signal = SIGCHLD;
        if (pid != 0) {
            how.set_tid = reinterpret_cast<std::uint64_t>(&pid);
            how.set_tid_size = 1;
        }
        pid_ = static_cast<pid_t>(syscall(SYS_clone3, &how, sizeof how));
        if (pid_ == 0)
            for (;;) pause();
    }
    ~Idler() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Idler(const Idler&) = delete;
    Idler& operator=(const Idler&) = delete;
    /// -1: it could not be created.
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = -1;
};

struct LinkMembers : LinkTest {
    void attach(std::optional<model::Process> process) {
        one.attached = std::move(process);
        server->refresh(one);
    }
};

TEST_F(LinkMembers, WhoIsNotOfTheInstanceIsRefusedForEveryRole) {
    const Idler other;
    attach(*processes.identify(other.pid()));
    for (const auto role :
         {wire::Role::compute, wire::Role::observe, wire::Role::driver, wire::Role::hand_over}) {
        Puppet puppet(loop);
        EXPECT_FALSE(puppet.connect(socket(one), role)) << static_cast<int>(role);
    }
    EXPECT_EQ(leased(one), 0U);
    EXPECT_EQ(divider.added, 0);
    attach(std::nullopt);
    Puppet early(loop);
    EXPECT_FALSE(early.connect(socket(one))) << "before there is a first process";
    attach(*processes.identify(getpid()));
    Puppet own(loop);
    EXPECT_TRUE(own.connect(socket(one)));
}

/// A cgroup of that name, in whichever hierarchy there is; gone at the end of the test, when nobody is in it.
class Cgroup {
  public:
    explicit Cgroup(const std::string& name) {
        for (const auto* hierarchy : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"}) {
            if (!std::filesystem::exists(std::filesystem::path(hierarchy) / "cgroup.procs")) continue;
            folder_ = std::filesystem::path(hierarchy) / name;
            std::error_code error;
            if (std::filesystem::create_directory(folder_, error)) return;
            folder_.clear();
        }
    }
    ~Cgroup() {
        std::error_code error;
        if (!folder_.empty()) std::filesystem::remove(folder_, error);
    }
    Cgroup(const Cgroup&) = delete;
    Cgroup& operator=(const Cgroup&) = delete;
    [[nodiscard]] bool add(pid_t pid) const {
        std::ofstream procs(folder_ / "cgroup.procs");
        procs << pid << std::endl;
        return procs.good() && !folder_.empty();
    }

  private:
    std::filesystem::path folder_;
};

TEST_F(LinkMembers, WhoLeftItsMountsAndParentsIsKnownByTheCgroup) {
    constexpr auto* kId = "3f2a0123456789ab";
    const Cgroup cgroup(kId);
    const Idler first;
    const Idler left;
    const Idler other;
    if (!cgroup.add(first.pid()) || !cgroup.add(left.pid())) GTEST_SKIP() << "no cgroup can be made here";
    auto container = make(kId, 100 * kMiB);
    container.attached = *processes.identify(first.pid());
    ASSERT_TRUE(server->open(container));
    for (const auto pid : {left.pid(), other.pid()}) server->stranger(container.quotas[0].gpu, pid);
    const auto members = leases->pools().living(app::key_of(container));
    ASSERT_EQ(members.size(), 1U);
    EXPECT_EQ(members.front().pid, left.pid());
}

// Found as cgpud that killed other users' processes: the user had chosen the id that their cgroup had in its
// name.
TEST_F(LinkMembers, OfAUsersCgroupOnlyTheUsersOwnProcessesAreMembers) {
    constexpr auto* kId = "3f2a0123456789ac";
    const Cgroup cgroup(kId);
    const Idler first;
    const Idler theirs;
    if (!cgroup.add(first.pid()) || !cgroup.add(theirs.pid())) GTEST_SKIP() << "no cgroup can be made here";
    for (const bool own : {false, true}) {
        auto container = make(own ? kId : "3f2a0123456789a", 100 * kMiB);
        container.attached = *processes.identify(first.pid());
        container.creator = geteuid() + (own ? 0 : 1);
        ASSERT_TRUE(server->open(container));
        server->stranger(container.quotas[0].gpu, theirs.pid());
        EXPECT_EQ(leases->pools().living(app::key_of(container)).size(), own ? 1U : 0U);
        server->close(container.id);
    }
}

/// A connection whose creator has ended while its child holds the socket, with another process of that pid.
struct Inherited {
    int listening = -1;
    int accepted = -1;
    pid_t maker = -1;
    pid_t holder = -1;

    Inherited() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socklen_t length = sizeof(sa_family_t);  // the kernel finds a name
        listening = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        EXPECT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), length), 0);
        EXPECT_EQ(listen(listening, 1), 0);
        length = sizeof address;
        EXPECT_EQ(getsockname(listening, reinterpret_cast<sockaddr*>(&address), &length), 0);
        std::array<int, 2> tell{};
        EXPECT_EQ(pipe(tell.data()), 0);
        maker = fork();
        if (maker == 0) {
            const int made = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
            if (connect(made, reinterpret_cast<sockaddr*>(&address), length) != 0) _exit(1);
            const pid_t child = fork();
            if (child == 0)
                for (;;) pause();
            _exit(write(tell[1], &child, sizeof child) == sizeof child ? 0 : 1);
        }
        EXPECT_EQ(read(tell[0], &holder, sizeof holder), static_cast<ssize_t>(sizeof holder));
        close(tell[0]);
        close(tell[1]);
        waitpid(maker, nullptr, 0);
        accepted = accept(listening, nullptr, nullptr);
    }
    ~Inherited() {
        if (holder > 0) kill(holder, SIGKILL);
        close(accepted);
        close(listening);
    }
    Inherited(const Inherited&) = delete;
    Inherited& operator=(const Inherited&) = delete;
};

TEST_F(LinkMembers, APidThatWasUsedAgainIsNotTakenForThePeer) {
    const Inherited connection;
    ASSERT_GE(connection.accepted, 0);
    EXPECT_FALSE(Connection::peer_of(connection.accepted, processes)) << "it has ended";
    EXPECT_FALSE(Connection::peer_of(connection.accepted, processes, Connection::Peer::by_pid));
    const Idler innocent(connection.maker);
    if (innocent.pid() < 0) GTEST_SKIP() << "the kernel gives no process a chosen pid here";
    int pidfd = -1;
    socklen_t size = sizeof pidfd;
    constexpr int kPeerPidfd = 77;
    const bool knows =
        getsockopt(connection.accepted, SOL_SOCKET, kPeerPidfd, &pidfd, &size) == 0 || errno != ENOPROTOOPT;
    if (pidfd >= 0) close(pidfd);
    if (knows) {
        EXPECT_FALSE(Connection::peer_of(connection.accepted, processes));
    }
    // An older kernel can't tell. There the membership check keeps other instances' processes out.
    const auto taken = Connection::peer_of(connection.accepted, processes, Connection::Peer::by_pid);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->pid, innocent.pid());
}

TEST_F(LinkMembers, APeerThatLivesIsKnownEitherWay) {
    std::array<int, 2> pair{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), 0);
    const auto self = *processes.identify(getpid());
    EXPECT_EQ(Connection::peer_of(pair[0], processes), self);
    EXPECT_EQ(Connection::peer_of(pair[0], processes, Connection::Peer::by_pid), self);
    close(pair[0]);
    close(pair[1]);
}

TEST_F(LinkMembers, AGreedyInstanceLeavesDescriptorsToOthers) {
    stop();
    settings.max_descriptors = 1000;
    start();
    Puppet greedy(loop);
    Puppet::Order order{[](Front& front, const Puppet::Order& o) -> std::uint64_t {
        std::uint64_t open = 0;
        std::array<Front, 200> all;
        for (auto& each : all)
            if (!each.connect(o.text)) return 0;
        // The daemon handles them in order. A connection that it has closed again can be read to its end.
        char byte = 0;
        const timeval patience{10, 0};
        setsockopt(all.back().fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (recv(all.back().fd, &byte, 1, 0) < 0) return all.size();
        for (const auto& each : all)
            if (recv(each.fd, &byte, 1, MSG_DONTWAIT) < 0) ++open;
        static_cast<void>(front);
        return open;
    }};
    wire::put_text(order.text, socket(one));
    const auto open = greedy.tell(order);
    EXPECT_GE(open, 45U);
    EXPECT_LE(open, 55U) << "a fifth of the descriptors, four for each, as for a process that will compute";
    Puppet other(loop);
    EXPECT_TRUE(other.connect(socket(two)));
}

}  // namespace
}  // namespace cgpu::link::test
