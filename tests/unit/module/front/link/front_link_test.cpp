#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

constexpr int kSystemNotReady = 802;

TEST_F(Front, WithoutADaemonNothingStarts) {
    take_daemon_down();
    std::filesystem::remove_all("link");
    EXPECT_EQ(init(), kSystemNotReady);
    void* context = nullptr;  // nor does it for a program that doesn't look at cuInit's answer
    EXPECT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)), kSystemNotReady);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(kMiB, &address), kSystemNotReady);
    EXPECT_EQ(heap_bytes(), 0u);
}

TEST_F(Front, ASilentDaemonIsNotWaitedForForever) {
    mute_daemon();
    EXPECT_EQ(init(), kSystemNotReady);
    daemon().mute = 0;
    EXPECT_EQ(init(), 0);  // and a later try may do
}

TEST_F(Front, PagesOfALaterLayoutAreNotRead) {
    daemon().page_version = cgpu::wire::kPageVersion + 1;
    EXPECT_EQ(init(), kSystemNotReady);
    daemon().page_version = cgpu::wire::kPageVersion;
    EXPECT_EQ(init(), 0);
}

TEST_F(Front, BeforeInitTheDriverSaysWhatIsWrong) {
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(kMiB, &address), 3);
    EXPECT_EQ(daemon().greeted, 0u);
}

TEST_F(Front, ADriverInitialisedPastTheFrontIsManagedAllTheSame) {
    ASSERT_EQ(behind<int(unsigned)>("cuInit")(0), 0);
    daemon().limit_bytes = kContextEstimate + kMiB * 2;
    void* context = nullptr;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)), 0);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(3 * kMiB, &address), kOutOfMemory);
}

TEST_F(Front, TheDaemonsDeathLeavesTheLeaseInForce) {
    start();
    std::uint64_t kept = 0;
    std::uint64_t freed = 0;
    ASSERT_EQ(allocate(64 * kMiB, &kept), 0);
    ASSERT_EQ(allocate(16 * kMiB, &freed), 0);
    take_daemon_down();
    ASSERT_EQ(free(freed), 0);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(16 * kMiB, &address), 0);            // within the lease: nobody is asked
    EXPECT_EQ(allocate(256 * kMiB, &freed), kOutOfMemory);  // beyond it: an error after a bounded wait
    daemon().down = 0;
    EXPECT_EQ(allocate(256 * kMiB, &freed), 0);  // and all is well with the next daemon
    EXPECT_EQ(daemon().greeted, 2u);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == (64 + 16 + 256) * kMiB; }));
}

TEST_F(Front, TheNextDaemonIsToldWhatIsLeased) {
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    const std::uint64_t known = daemon().leased_bytes;
    take_daemon_down();
    daemon().leased_bytes = known + 32 * kMiB;  // granted, but the Answer never came
    daemon().down = 0;
    EXPECT_TRUE(eventually([&] { return daemon().leased_bytes == known; }));
}

TEST_F(Front, EachDaemonIsToldWhatIsOpenOfOtherProcesses) {
    start();
    struct Handle {
        char bytes[64];
    };
    std::uint64_t address = 0;
    const auto open = call<int(std::uint64_t*, Handle, unsigned)>("cuIpcOpenMemHandle_v2");
    ASSERT_EQ(open(&address, Handle{}, 1), 0);
    EXPECT_TRUE(eventually([&] { return daemon().shared_told == 48 * kMiB; }));
    ASSERT_EQ(open(&address, Handle{}, 1), 0);
    EXPECT_TRUE(eventually([&] { return daemon().shared_told == 96 * kMiB; }));
    EXPECT_EQ(daemon().charged_bytes, 0u) << "who made it has it charged";
    take_daemon_down();
    daemon().shared_told = 0;
    daemon().down = 0;
    EXPECT_TRUE(eventually([&] { return daemon().shared_told == 96 * kMiB; }));
}

TEST_F(Front, AnAllocationWaitsOutARestart) {
    start();
    take_daemon_down();
    std::thread restart([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        daemon().down = 0;
    });
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(128 * kMiB, &address), 0);
    restart.join();
}

TEST_F(Front, AProgramMayCloseAllDescriptors) {
    start();
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(128 * kMiB, &address), 0);
    EXPECT_EQ(daemon().greeted, 2u);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 128 * kMiB; }));
}

TEST_F(Front, DescriptorsThatTookOurNumbersAreLeftAlone) {
    start();
    // Puts a pipe of the program under every open number.
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
    int replaced = 0;
    for (int fd = 3; fd < 1024; ++fd) {
        if (fd == ends[0] || fd == ends[1] || fcntl(fd, F_GETFD) < 0) continue;
        ASSERT_EQ(dup2(ends[1], fd), fd);
        ++replaced;
    }
    ASSERT_GE(replaced, 3);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(128 * kMiB, &address), 0);
    char byte = 0;
    EXPECT_LT(read(ends[0], &byte, 1), 0) << "something was written into the program's pipe";
}

TEST_F(Front, AForkedChildStartsAfresh) {
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    const pid_t child = fork();
    if (child == 0) {
        // Its own connection, its own lease, its own count of contexts.
        void* context = nullptr;
        std::uint64_t mine = 0;
        const bool good = init() == 0 &&
                          call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0) == 0 &&
                          allocate(32 * kMiB, &mine) == 0 && free(mine) == 0;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(daemon().greeted, 2u);
    EXPECT_EQ(allocate(64 * kMiB, &address), 0);
}

// Found as ten seconds for each allocation of such a child, over its parent's connection.
TEST_F(Front, ACopyMadePastForkIsToldAtOnce) {
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    const auto asks = daemon().asks.load();
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) {
        alarm(5);
        std::uint64_t mine = 0;
        void* context = nullptr;
        const bool good =
            allocate(512 * kMiB, &mine) == kSystemNotReady && launch() == kSystemNotReady &&
            call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0) == kSystemNotReady;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(daemon().asks, asks);
    EXPECT_EQ(allocate(64 * kMiB, &address), 0) << "the first process goes on";
}

TEST_F(Front, ChildrenForkedUnderLoadDontHang) {
    start();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    threads.reserve(2);
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            call<int(void*)>("cuCtxSetCurrent")(context_);
            while (!stop) {
                std::uint64_t address = 0;
                if (allocate(4 * kMiB, &address) == 0) free(address);
                launch();
            }
        });
    }
    for (int i = 0; i < 40; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);  // a child that hangs is killed by it
            std::size_t total = 0;
            call<int(std::size_t*, int)>("cuDeviceTotalMem_v2")(&total, 0);
            _exit(0);
        }
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    stop = true;
    for (auto& thread : threads) thread.join();
}

// What a thread was granted in advance isn't its copy's: one launch must not pass, and then hang the next.
TEST_F(Front, ACopyMadePastForkHasNoGrantOfItsOriginals) {
    start();
    for (const auto gate : {kOpen, kFree}) {
        daemon().gate = gate;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const auto before = launches();
        for (int i = 0; i < 200; ++i) ASSERT_EQ(launch(), 0);
        EXPECT_EQ(launches(), before + 200);
        const auto child =
            static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
        if (child == 0) {
            alarm(5);
            const auto launched = launches();
            bool good = true;
            for (int i = 0; i < 100; ++i) good = launch() == kSystemNotReady && good;
            _exit(good && launches() == launched ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << gate;
        EXPECT_EQ(launch(), 0) << "the first process goes on";
    }
}

TEST_F(Front, AStoppedDaemonDoesNotStopTheProcess) {
    start();
    ASSERT_EQ(kill(daemon_pid(), SIGSTOP), 0);
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    EXPECT_EQ((call<int(std::size_t*, std::size_t*)>("cuMemGetInfo_v2")(&free_bytes, &total)), 0);
    EXPECT_EQ(total, daemon().limit_bytes);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(512 * kMiB, &address), kOutOfMemory);
    ASSERT_EQ(kill(daemon_pid(), SIGCONT), 0);
    EXPECT_EQ(allocate(256 * kMiB, &address), 0);
}

}  // namespace
