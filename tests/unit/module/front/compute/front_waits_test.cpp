// Programs that wait for each of their short kernels.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

// Events around every short kernel would cost a program that waits for each of them more than the kernels.
TEST_F(Front, ShortKernelsThatAreWaitedForAreRarelyMeasured) {
    constexpr int kLaunches = 100;
    daemon().gate = kOpen;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(20'000);
    const auto began = begin_measuring();
    std::int64_t launched = 0;
    // Whenever the machine interrupts the program in a wait, all batches are measured for a while.
    EXPECT_TRUE(eventually([&] {
        const auto before = behind<std::int64_t()>("fake_records")();
        for (int i = 0; i < kLaunches; ++i, ++launched) {
            EXPECT_EQ(launch(), 0);
            EXPECT_EQ(call<int()>("cuCtxSynchronize")(), 0);
        }
        return behind<std::int64_t()>("fake_records")() - before < kLaunches / 2;
    }));
    const std::int64_t least = launched * 20'000 * 95 / 100;
    EXPECT_TRUE(eventually([&] { return daemon().used_ns - began.used_ns >= least; }));

    // A kernel that takes longer than its function usually does is not free.
    behind<void(std::int64_t)>("fake_set_kernel_ns")(30'000'000);
    const auto longer = begin_measuring();
    ASSERT_EQ(launch(), 0);
    ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    expect_used(29'000'000, 60'000'000, longer);
}

// The waiting thread may have been cancelled, or killed by the program: nobody else knows of its wait.
TEST_F(Front, AWaitThatNeverReturnsLeavesNothingInFlight) {
    daemon().gate = kOpen;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(20'000);
    for (int i = 0; i < 200; ++i) {
        ASSERT_EQ(launch(), 0);
        ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    }
    behind<void(int)>("fake_hold_waits")(1);
    std::thread program([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        for (int i = 0; i < 40; ++i) {
            EXPECT_EQ(launch(), 0);
            EXPECT_EQ(call<int()>("cuCtxSynchronize")(), 0);
        }
    });
    EXPECT_TRUE(eventually([&] { return behind<int()>("fake_waits_inside")() == 1; }));
    EXPECT_TRUE(eventually([&] { return daemon().in_flight_ns == 0; }));
    EXPECT_EQ(behind<int()>("fake_waits_inside")(), 1);
    behind<void(int)>("fake_hold_waits")(0);
    program.join();
}

// An event that is recorded on a destroyed stream may crash the driver.
class FrontThatRecordsLate : public Front {
  protected:
    /// Whether the service thread's next recording of an event is held now. None may be due: then the driver
    /// holds nothing any more.
    bool hold_next_record() {
        behind<void()>("fake_hold_next_record")();
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        while (std::chrono::steady_clock::now() < until) {
            if (behind<int()>("fake_record_held")() == 1) return true;
            std::this_thread::yield();
        }
        let_go();
        return false;
    }
    void let_go() { behind<void()>("fake_let_record_go")(); }
};

TEST_F(FrontThatRecordsLate, AWaitReturnsWhenNobodyUsesItsStreamAnyMore) {
    daemon().gate = kOpen;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(20'000);
    const auto wait = call<int()>("cuCtxSynchronize");
    EXPECT_TRUE(eventually([&] {
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(launch(), 0);
            EXPECT_EQ(wait(), 0);
        }
        std::atomic<bool> returned{false};
        behind<void(int)>("fake_hold_waits")(1);
        std::thread program([&] {
            call<int(void*)>("cuCtxSetCurrent")(context_);
            EXPECT_EQ(launch(), 0);
            EXPECT_EQ(wait(), 0);
            returned = true;
        });
        EXPECT_TRUE(eventually([&] { return behind<int()>("fake_waits_inside")() == 1; }));
        const bool held = hold_next_record();  // else the batch was measured
        behind<void(int)>("fake_hold_waits")(0);
        if (held) {
            EXPECT_TRUE(eventually([&] { return behind<int()>("fake_waits_inside")() == 0; }));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            EXPECT_FALSE(returned);
            let_go();
        }
        program.join();
        return held;
    }));
}

TEST_F(FrontThatRecordsLate, AStreamIsDestroyedWhenNobodyUsesItAnyMore) {
    daemon().gate = kOpen;
    start();
    int stream = 0;
    ASSERT_EQ(launch(&stream), 0);  // measured by itself
    ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(launch(&stream), 0);
        return hold_next_record();  // else its batch is closed already
    }));
    std::atomic<bool> returned{false};
    std::thread program([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        EXPECT_EQ(call<int(void*)>("cuStreamDestroy_v2")(&stream), 0);
        returned = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(returned);
    let_go();
    program.join();
}

// cgpud compares the driver's samples with what is measured, and these transfers aren't.
TEST_F(Front, SmallTransfersAreCounted) {
    const auto fill = call<int(std::uint64_t, unsigned char, std::size_t, void*)>("cuMemsetD8Async");
    const auto copy = call<int(std::uint64_t, std::uint64_t, std::size_t, void*)>("cuMemcpyDtoDAsync_v2");
    const auto copy_anywhere = call<int(std::uint64_t, std::uint64_t, std::size_t, void*)>("cuMemcpyAsync");
    EXPECT_EQ(fill(4096, 1, 64, nullptr), 0) << "before the driver is initialised";
    start();
    constexpr std::size_t kLarge = 64 << 10;
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(fill(4096, 1, kLarge - 1, nullptr), 0);
        EXPECT_EQ(copy(4096, 8192, 1, nullptr), 0);
        EXPECT_EQ(copy_anywhere(4096, 8192, kLarge - 1, nullptr), 0);
    }
    EXPECT_TRUE(eventually([&] { return daemon().small_transfers == 30; })) << daemon().small_transfers;
    EXPECT_EQ(fill(4096, 1, kLarge, nullptr), 0);
    EXPECT_EQ(copy(4096, 8192, kLarge, nullptr), 0);
    const auto read = daemon().reads.load();
    EXPECT_TRUE(eventually([&] { return daemon().reads > read + 1; }));
    EXPECT_EQ(daemon().small_transfers, 30U) << "these are measured";
}

}  // namespace
