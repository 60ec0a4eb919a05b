// The driver's libraries: from the process that makes an instance's mounts to cgpud, and from there to its
// processes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/unit/daemon/link/support/link_bed.hpp"

namespace cgpu::link::test {
namespace {

namespace fs = std::filesystem;
using Order = Puppet::Order;

/// A copy of this program in memory, open for reading.
int copy_in_memory(bool sealed) {
    const int copy = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    while (sendfile(copy, from, nullptr, 1 << 30) > 0) {
    }
    if (sealed) fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    return open(("/proc/self/fd/" + std::to_string(copy)).c_str(), O_RDONLY | O_CLOEXEC);
}

/// What a user hands over.
enum class Brought : std::uint64_t { of_the_host, at_another_path, copy, sealed_copy };

/// The outcome of a HandOver.
enum Came : std::uint64_t { taken = 0, refused_hello = 1, refused_files = 2, ended = 3 };

struct LinkDriver : LinkTest {
    LinkDriver() {
        // Every process of this test descends from it.
        attach(*processes.identify(getpid()));
        // Any library can be used.
        for (const char* name : {"libcuda.so.535", "libnvidia-ml.so.535"})
            fs::copy_file(fs::canonical("/proc/self/exe"), runtime_dir / name);
    }

    void attach(const model::Process& process) {
        one.attached = process;
        server->refresh(one);
    }

    std::string cuda() const { return (runtime_dir / "libcuda.so.535").string(); }

    /// Hands over `text`'s files, opened with `flags`: libcuda there, and libnvidia-ml beside it.
    std::uint64_t hand_over(Puppet& puppet, int flags = O_RDONLY, const char* cuda_name = "libcuda.so.535") {
        Order order{[](Front& front, const Order& o) -> std::uint64_t {
                        const fs::path folder = o.text;
                        if (!front.connect((folder / "instances/one/link/socket").string())) return ended;
                        auto hello = wire::make_message<wire::Hello>();
                        hello.oldest_version = hello.newest_version = wire::kVersion;
                        hello.role = wire::Role::hand_over;
                        if (!front.send(hello)) return ended;
                        auto message = wire::make_message<wire::HandOver>();
                        message.libraries = 3;
                        const std::string cuda = folder / (o.text + folder.native().size() + 1);
                        wire::put_text(message.paths[0], cuda);
                        wire::put_text(message.paths[1], (folder / "libnvidia-ml.so.535").native());
                        const int how = static_cast<int>(o.number);
                        front.send_files(&message, sizeof message,
                                         {open(cuda.c_str(), how), open(message.paths[1], O_RDONLY)});
                        const auto packet = front.receive();
                        if (wire::read_message<wire::DriverFiles>(packet)) return taken;
                        const auto refused = wire::read_message<wire::Refused>(packet);
                        if (!refused) return ended;
                        return std::string(refused->text).find("of instance") != std::string::npos
                                   ? refused_files
                                   : refused_hello;
                    },
                    static_cast<std::uint64_t>(flags)};
        const std::string folder = runtime_dir.native();
        wire::put_text(order.text, folder);
        wire::put_text(std::span(order.text).subspan(folder.size() + 1), cuda_name);
        return puppet.tell(order);
    }

    /// A user of this id makes the instance, and hands over libcuda alone.
    static constexpr uid_t kAUser = 65534;
    std::uint64_t hand_over_as_user(Puppet& puppet, Brought what) {
        one.creator = kAUser;
        server->refresh(one);
        for (const fs::path& folder : {runtime_dir, runtime_dir / "instances/one"})
            EXPECT_EQ(chmod(folder.c_str(), 0755), 0);
        Order order{[](Front& front, const Order& o) -> std::uint64_t {
                        const auto brought = static_cast<Brought>(o.number);
                        const fs::path folder = o.text;
                        const auto cuda = (folder / "libcuda.so.535").string();
                        const int library =
                            brought == Brought::of_the_host || brought == Brought::at_another_path
                                ? open(cuda.c_str(), O_RDONLY)
                                : copy_in_memory(brought == Brought::sealed_copy);
                        if (seteuid(kAUser) != 0) return ended;
                        const bool connected = front.connect((folder / "instances/one/link/socket").string());
                        if (seteuid(0) != 0 || !connected) return ended;
                        auto hello = wire::make_message<wire::Hello>();
                        hello.oldest_version = hello.newest_version = wire::kVersion;
                        hello.role = wire::Role::hand_over;
                        auto message = wire::make_message<wire::HandOver>();
                        message.libraries = 1;
                        wire::put_text(message.paths[0], brought == Brought::at_another_path
                                                             ? (folder / "libnvidia-ml.so.535").string()
                                                             : cuda);
                        if (!front.send(hello) || !front.send_files(&message, sizeof message, {library}))
                            return ended;
                        const auto packet = front.receive();
                        if (wire::read_message<wire::DriverFiles>(packet)) return taken;
                        return wire::read_message<wire::Refused>(packet) ? refused_files : ended;
                    },
                    static_cast<std::uint64_t>(what)};
        wire::put_text(order.text, runtime_dir.native());
        return puppet.tell(order);
    }

    /// The inode of the libcuda that a process of the instance gets; 0: none.
    std::uint64_t inode_got(Puppet& puppet) {
        Order order{[](Front& front, const Order& o) -> std::uint64_t {
            if (!front.connect(o.text)) return 0;
            auto hello = wire::make_message<wire::Hello>();
            hello.oldest_version = hello.newest_version = wire::kVersion;
            hello.role = wire::Role::driver;
            if (!front.send(hello)) return 0;
            const auto answer = wire::read_message<wire::DriverFiles>(front.receive());
            struct stat status {};
            if (!answer || answer->libraries != 3 || front.page_fds.size() != 2 ||
                fstat(front.page_fds[0], &status) != 0 ||
                (fcntl(front.page_fds[0], F_GETFL) & O_ACCMODE) != O_RDONLY)
                return 0;
            front.disconnect();
            return status.st_ino;
        }};
        wire::put_text(order.text, socket(one));
        return puppet.tell(order);
    }
    static std::uint64_t inode_of(const std::string& path) {
        struct stat status {};
        EXPECT_EQ(stat(path.c_str(), &status), 0);
        return status.st_ino;
    }
};

TEST_F(LinkDriver, WhatWasHandedOverIsGivenToTheProcesses) {
    Puppet hook(loop);
    Puppet program(loop);
    EXPECT_EQ(inode_got(program), 0U) << "nobody has brought it yet";
    ASSERT_EQ(hand_over(hook), taken);
    EXPECT_EQ(inode_got(program), inode_of(cuda()));
    EXPECT_EQ(inode_got(program), inode_of(cuda()));
    EXPECT_TRUE(program.connect(socket(one))) << "and none of these connections counts";
}

TEST_F(LinkDriver, EachDriverIsLookedAtOnceForFunctionsThatNobodyKnows) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    ASSERT_EQ(drivers.paths.size(), 1U);
    EXPECT_EQ(drivers.paths.begin()->second, cuda());
    EXPECT_EQ(drivers.paths.begin()->first.inode, inode_of(cuda()));
    // A restarted daemon that doesn't know it looks at what it gets back.
    stop();
    drivers.paths.clear();
    start();
    EXPECT_EQ(drivers.paths.size(), 1U);
    stop();
    start();
    EXPECT_EQ(drivers.paths.size(), 1U);
}

TEST_F(LinkDriver, ItIsTakenOnce) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    Puppet program(loop);
    EXPECT_EQ(hand_over(program), refused_hello);
    EXPECT_EQ(inode_got(program), inode_of(cuda()));
}

TEST_F(LinkDriver, ItIsTakenOnceAlsoIfALaterDaemonDoesNotFindItAgain) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    stop();
    descriptors.kept.clear();
    for (const char* name : {"libcuda.so.535", "libnvidia-ml.so.535"}) {
        fs::rename(runtime_dir / name, runtime_dir / "old");
        fs::copy_file(runtime_dir / "old", runtime_dir / name);
    }
    start();
    Puppet program(loop);
    EXPECT_EQ(inode_got(program), 0U) << "it was installed anew";
    EXPECT_EQ(hand_over(program), refused_hello) << "by now it is the program";
}

// A user could serve the file's file system, and stop answering when cgpud closes it.
TEST_F(LinkDriver, OfAUserOnlyTheHostsOwnFilesAreTakenAndCopiesThatNobodyChanges) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can connect as another user";
    Puppet hook(loop);
    EXPECT_EQ(hand_over_as_user(hook, Brought::copy), refused_files);
    EXPECT_EQ(hand_over_as_user(hook, Brought::at_another_path), refused_files);
    EXPECT_EQ(hand_over_as_user(hook, Brought::of_the_host), taken);
}

TEST_F(LinkDriver, OfAUserASealedCopyIsTaken) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can connect as another user";
    Puppet hook(loop);
    EXPECT_EQ(hand_over_as_user(hook, Brought::sealed_copy), taken);
}

TEST_F(LinkDriver, ItIsTakenFromTheInstancesOwnProcessesOnly) {
    Puppet init(loop);
    Puppet stranger(loop);
    attach(*processes.identify(init.pid()));
    EXPECT_EQ(hand_over(stranger), refused_hello);
    EXPECT_EQ(hand_over(init), taken);
}

TEST_F(LinkDriver, BeforeItIsAttachedNobodyKnowsWhoThoseAre) {
    one.attached.reset();
    server->refresh(one);
    Puppet hook(loop);
    EXPECT_EQ(hand_over(hook), refused_hello);
}

TEST_F(LinkDriver, WhatIsNoLibraryOrCouldBeWrittenIsRefused) {
    Puppet hook(loop);
    EXPECT_EQ(hand_over(hook, O_RDWR), refused_files) << "its processes would change the host's driver";
    EXPECT_EQ(hand_over(hook, O_PATH), refused_files);
    std::ofstream(runtime_dir / "text") << "no library";
    EXPECT_EQ(hand_over(hook, O_RDONLY, "text"), refused_files);
    EXPECT_EQ(hand_over(hook, O_RDONLY | O_DIRECTORY, "instances"), refused_files);
    EXPECT_EQ(hand_over(hook), taken) << "and it may do better";
}

TEST_F(LinkDriver, AMessageWithoutItsFilesIsRefused) {
    Puppet hook(loop);
    Order order{[](Front& front, const Order& o) -> std::uint64_t {
        if (!front.connect(o.text)) return 1;
        auto hello = wire::make_message<wire::Hello>();
        hello.oldest_version = hello.newest_version = wire::kVersion;
        hello.role = wire::Role::hand_over;
        auto message = wire::make_message<wire::HandOver>();
        message.libraries = 3;
        if (!front.send(hello) ||
            !front.send_files(&message, sizeof message, {open("/proc/self/exe", O_RDONLY)}))
            return 2;
        return wire::read_message<wire::Refused>(front.receive()) ? 0 : 3;
    }};
    wire::put_text(order.text, socket(one));
    EXPECT_EQ(hook.tell(order), 0U);
    EXPECT_EQ(hand_over(hook), taken);
}

TEST_F(LinkDriver, ADaemonThatIsStartedAnewHasItFromTheStore) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    const auto inode = inode_of(cuda());
    fs::remove(cuda());  // as an image's own, which no path on the host leads to
    stop();
    start();
    Puppet program(loop);
    EXPECT_EQ(inode_got(program), inode);
}

TEST_F(LinkDriver, WithoutAStoreItOpensTheSameFileAgain) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    stop();
    descriptors.kept.clear();
    start();
    Puppet program(loop);
    EXPECT_EQ(inode_got(program), inode_of(cuda()));
}

TEST_F(LinkDriver, AnotherFileAtThatPathIsNotTaken) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    stop();
    descriptors.kept.clear();
    fs::rename(cuda(), cuda() + ".old");
    fs::copy_file(cuda() + ".old", cuda());
    start();
    Puppet program(loop);
    EXPECT_EQ(inode_got(program), 0U);
}

TEST_F(LinkDriver, AFifoAtThatPathIsNotOpened) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    stop();
    descriptors.kept.clear();
    fs::rename(cuda(), cuda() + ".old");
    ASSERT_EQ(mkfifo(cuda().c_str(), 0600), 0);
    // A writer goes on as soon as somebody reads.
    const pid_t writer = fork();
    if (writer == 0) _exit(open(cuda().c_str(), O_WRONLY) >= 0 ? 0 : 1);
    const std::string state = "/proc/" + std::to_string(writer) + "/stat";
    const auto waits = [&state] {
        std::string text;
        std::getline(std::ifstream(state), text);
        return text.find(") S ") != std::string::npos;
    };
    while (!waits()) usleep(1000);
    start();
    Puppet program(loop);
    EXPECT_EQ(inode_got(program), 0U);
    EXPECT_EQ(waitpid(writer, nullptr, WNOHANG), 0) << "the fifo was opened";
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
}

TEST_F(LinkDriver, ALinkAtThatPathIsNotFollowed) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    stop();
    descriptors.kept.clear();
    fs::rename(cuda(), cuda() + ".old");
    fs::create_symlink(cuda() + ".old", cuda());
    start();
    Puppet program(loop);
    EXPECT_EQ(inode_got(program), 0U);
}

TEST_F(LinkDriver, AnotherContainerOfTheSameIdBringsItsOwn) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    stop();
    ++one.generation;
    start();
    Puppet program(loop);
    EXPECT_EQ(inode_got(program), 0U);
    EXPECT_EQ(hand_over(hook), taken);
    EXPECT_EQ(inode_got(program), inode_of(cuda()));
}

TEST_F(LinkDriver, WithItsInstanceItGoesFromTheStore) {
    Puppet hook(loop);
    ASSERT_EQ(hand_over(hook), taken);
    const auto libraries = [this] {
        return std::ranges::count_if(descriptors.kept,
                                     [](const auto& kept) { return kept.first.starts_with("driver-"); });
    };
    EXPECT_EQ(libraries(), 2);
    server->close(one.id);
    EXPECT_EQ(libraries(), 0);
}

}  // namespace
}  // namespace cgpu::link::test
