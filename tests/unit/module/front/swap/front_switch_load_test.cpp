#include "tests/unit/module/front/swap/front_switch_fixture.hpp"
#include "tests/unit/module/front/swap/refuse_membarrier.hpp"

namespace {

/// LeakSanitizer sometimes crashes (its tracer reads a thread's table of thread-local blocks) at the end of a
/// process that has unmapped a thousand libraries under running threads. The other tests of switches check
/// for leaks.
bool thousands_of_libraries = false;

}  // namespace

extern "C" int __lsan_is_turned_off() { return thousands_of_libraries ? 1 : 0; }

namespace {

/// A program with all cores in use, whose calls must all succeed.
class Busy : public FrontSwitch {
  protected:
    static constexpr int kThreads = 8;
    static constexpr int kSwitches = 1000;

    void SetUp() override {
        thousands_of_libraries = true;
        FrontSwitch::SetUp();
    }
    void TearDown() override {
        stop();
        FrontSwitch::TearDown();
    }

    void start_threads(int count = kThreads) {
        for (int i = 0; i < count; ++i) threads_.emplace_back([this, i] { work(i); });
    }
    void stop() {
        stop_ = true;
        for (auto& thread : threads_) thread.join();
        threads_.clear();
    }

    /// One thread's work: memory of all sizes, kernels on a stream of its own, waiting for them.
    void work(int number) {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        for (int round = 0; !stop_; ++round) a_round(number, round);
    }
    void a_round(int number, int round) {
        std::uint64_t small = 0;
        std::uint64_t large = 0;
        const int bad = allocate(4096, &small) +
                        allocate((1 + static_cast<unsigned>(round) % 4) * kMiB, &large) +
                        launch(&streams_[number]) + launch(&streams_[number]) +
                        (round % 16 == 0 ? call<int()>("cuCtxSynchronize")() : 0) + free(large) + free(small);
        if (bad != 0) ++failed_;
        ++rounds_;
    }

    /// There and back, `count` times in all; each time the old engine is unmapped.
    void switch_about(int count) {
        for (int i = 0; i < count; ++i) {
            const bool there = i % 2 == 0;
            ASSERT_EQ(there ? go_to_next() : go_to_present(), Result::done) << i << ": " << detail();
            ASSERT_EQ(is_mapped("present.so"), !there);
            ASSERT_EQ(is_mapped("next.so"), there);
        }
    }

    void expect_all_given_back() {
        stop();
        EXPECT_EQ(failed_, 0);
        EXPECT_GT(rounds_, 0);
        EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; })) << daemon().charged_bytes;
        EXPECT_EQ(heap_bytes(), 0u);
        // All of it can be allocated: no byte counts as used.
        std::uint64_t address = 0;
        const auto all = daemon().limit_bytes - daemon().context_bytes;
        EXPECT_EQ(allocate(all, &address), 0)
            << daemon().leased_bytes << " leased, " << daemon().context_bytes << " for contexts, "
            << daemon().refusals << " refusals, of " << daemon().limit_bytes;
        EXPECT_EQ(free(address), 0);
    }

    std::atomic<bool> stop_{false};
    std::atomic<int> failed_{0};
    std::atomic<int> rounds_{0};
    int streams_[64] = {};
    std::atomic<int> children_{0};
    std::vector<std::thread> threads_;
};

TEST_F(Busy, AThousandSwitchesUnderLoad) {
    daemon().gate = 1;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(2'000);
    start_threads();
    switch_about(kSwitches);
    expect_all_given_back();
}

TEST_F(Busy, AThousandSwitchesWhereMembarrierIsRefused) {
    daemon().gate = 1;
    ASSERT_TRUE(refuse_membarrier());
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(2'000);
    start_threads();
    switch_about(kSwitches);
    expect_all_given_back();
}

TEST_F(Busy, ThreadsComeAndGoWhileEnginesDo) {
    daemon().gate = 1;
    start();
    start_threads(2);
    std::atomic<int> ended{0};
    std::thread source([&] {
        while (!stop_) {
            std::vector<std::thread> batch;
            batch.reserve(16);
            for (int i = 0; i < 16; ++i) {
                batch.emplace_back([&, i] {
                    call<int(void*)>("cuCtxSetCurrent")(context_);
                    for (int round = 0; round < 3; ++round) a_round(kThreads + i, round);
                });
            }
            for (auto& each : batch) each.join();
            ended += 16;
        }
    });
    switch_about(kSwitches / 5);
    ASSERT_TRUE(eventually([&] { return ended >= 64; }));
    stop_ = true;
    source.join();
    expect_all_given_back();
}

TEST_F(Busy, ReconnectionsInTheMiddle) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "to ThreadSanitizer a page that is mapped over another one is written to";
#endif
    daemon().gate = 1;
    start();
    start_threads();
    for (int i = 0; i < 20; ++i) {
        switch_about(2);
        // The answer may be lost with the connection: the next daemon is told what runs.
        order("next.so", kNext);
        take_daemon_down();
        daemon().switch_request = 0;
        const auto told = daemon().told_running.load();
        daemon().down = 0;
        ASSERT_TRUE(eventually([&] { return daemon().told_running > told; }));
        ASSERT_EQ(go_to_present(), Result::done) << detail();
    }
    expect_all_given_back();
}

TEST_F(Busy, ForksInTheMiddle) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the sanitizers' own locks and threads don't survive the fork of a process with threads";
#endif
    daemon().gate = 1;
    start();
    start_threads(3);
    std::atomic<bool> switching{true};
    std::thread forks([&] {
        while (switching) {
            const pid_t child = fork();
            if (child == 0) {
                alarm(60);  // a child that hangs is killed by it
                // It starts from scratch, with the engine that the daemon names, and its parent's mappings
                // are removed.
                const bool good = init() == 0 && is_mapped("present.so") && !is_mapped("next.so");
                _exit(good ? 0 : 1);
            }
            int status = -1;
            if (waitpid(child, &status, 0) != child || status != 0) ++failed_;
            ++children_;
        }
    });
    for (int i = 0; i < kSwitches / 10 || children_ < 20; ++i) {
        if (i % 2 == 0)
            ASSERT_EQ(go_to_next(), Result::done) << detail();
        else
            ASSERT_EQ(go_to_present(), Result::done) << detail();
    }
    switching = false;
    forks.join();
    expect_all_given_back();
}

}  // namespace
