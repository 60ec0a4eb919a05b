// One thread closes batches while another is launching into one: between the moment when its launch was let
// through and the moment when the driver has it.
#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

constexpr std::int64_t kMilli = 1'000'000;
/// So short that the engine puts several into a batch.
constexpr std::int64_t kShort = kMilli / 10;

class Launching : public Front {
  protected:
    void TearDown() override {  // where the test has failed half way, too
        go_ = true;
        if (thread_.joinable()) end();
        Front::TearDown();
    }

    /// A thread of the program has launched kernels of one millisecond, whose duration is known now, and
    /// launches one of fifty: it is in the driver, and not yet on the stream.
    void begin(void* stream, std::int64_t known_ns, bool shares = false) {
        daemon().gate = 1;
        start();
        behind<void(std::int64_t)>("fake_set_kernel_ns")(known_ns);
        if (shares) share(stream);
        thread_ = std::thread([this, stream] {
            call<int(void*)>("cuCtxSetCurrent")(context_);
            for (int i = 0; i < 200; ++i) EXPECT_EQ(launch(stream), 0);
            EXPECT_EQ(call<int()>("cuCtxSynchronize")(), 0);
            known_ = true;
            while (!go_) std::this_thread::yield();
            for (int i = 0; i < 2; ++i) EXPECT_EQ(launch(stream), 0);
        });
        ASSERT_TRUE(eventually([&] { return known_.load(); })) << "the first launches have not been done";
        read_pages();
        ASSERT_TRUE(eventually([&] { return daemon().in_flight_ns == 0; })) << daemon().in_flight_ns;
        began_ = begin_measuring();
        behind<void(std::int64_t)>("fake_set_kernel_ns")(50 * kMilli);
        hold_after(1);
        go_ = true;
        ASSERT_TRUE(eventually([&] { return inside() == 1; }));
    }

    /// Threads launch into it together, so that its next batches are published by locked instructions.
    void share(void* stream) const {
        std::array<std::thread, 3> threads;
        for (auto& thread : threads)
            thread = std::thread([this, stream] {
                call<int(void*)>("cuCtxSetCurrent")(context_);
                for (int i = 0; i < 200; ++i) EXPECT_EQ(launch(stream), 0);
            });
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(synchronise(), 0);
    }

    /// A thread has been let into a batch of its own, and is about to record its start, while another
    /// thread's launch, of a function, makes the engine close the batch.
    void expect_closed_though_not_begun(std::int64_t known_ns, std::size_t function) {
        int stream = 0;
        daemon().gate = 1;
        start();
        behind<void(std::int64_t)>("fake_set_kernel_ns")(known_ns);
        // Each end that is seen shows how the clocks of GPU and host differ, as long as the host sees it at
        // once: on a busy machine one of ten is. (Waiting for one short launch each time would not be
        // measured.)
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(launch(&stream), 0);
            if (i % 2 == 1) {
                EXPECT_EQ(synchronise(), 0);
            }
        }
        read_pages();
        ASSERT_TRUE(eventually([&] { return daemon().in_flight_ns == 0; }));
        const Began began = begin_measuring();
        behind<void()>("fake_hold_next_record")();
        std::thread late([&] {
            call<int(void*)>("cuCtxSetCurrent")(context_);
            EXPECT_EQ(launch(&stream), 0);
        });
        EXPECT_TRUE(eventually([&] { return behind<int()>("fake_record_held")() == 1; }));
        EXPECT_EQ(launch(&stream, function), 0);
        behind<void()>("fake_let_record_go")();
        late.join();
        EXPECT_EQ(synchronise(), 0);
        expect_used(2 * known_ns - 10'000, 3 * known_ns, began);
        EXPECT_TRUE(eventually([&] { return daemon().in_flight_ns == 0; })) << daemon().in_flight_ns;
    }

    /// The thread continues, and ends.
    void end() {
        hold_after(-1);
        thread_.join();
    }

    void hold_after(int count) const { behind<void(int)>("fake_hold_launches")(count); }
    int inside() const { return behind<int()>("fake_launches_inside")(); }
    int synchronise() const { return call<int()>("cuCtxSynchronize")(); }

    /// Another thread's synchronisation closes the batch: launches that go into it afterwards are measured
    /// all the same.
    void expect_measured(void* stream, bool shares = false) {
        begin(stream, kShort, shares);
        EXPECT_EQ(synchronise(), 0);
        end();
        EXPECT_EQ(synchronise(), 0);
        expect_used(95 * kMilli, 130 * kMilli, began_);
    }

    /// After a second the batch ends without it.
    void expect_given_up() {
        ASSERT_EQ(synchronise(), 0);
        EXPECT_TRUE(eventually([&] { return daemon().in_flight_ns > 0; }));
        EXPECT_TRUE(eventually([&] { return daemon().in_flight_ns == 0; }));
        EXPECT_EQ(inside(), 1);
        end();
        EXPECT_EQ(synchronise(), 0);
    }

  private:
    std::thread thread_;
    std::atomic<bool> known_{false};
    std::atomic<bool> go_{false};
    Began began_{};
};

TEST_F(Launching, IsWaitedForByWhoClosesTheBatch) {
    int stream = 0;
    expect_measured(&stream);
}

TEST_F(Launching, IsWaitedForInAStreamThatThreadsShare) {
    int stream = 0;
    expect_measured(&stream, true);
}

TEST_F(Launching, IsWaitedForOnTheThreadsOwnStream) { expect_measured(cgpu::front::stream_per_thread()); }

TEST_F(Launching, ABatchIsClosedForALaunchThatNeedsOneOfItsOwnBeforeItHasBegun) {
    expect_closed_though_not_begun(kShort, 1);  // a function that was never measured
}

TEST_F(Launching, ABatchIsClosedBehindALaunchThatFillsItBeforeItHasBegun) {
    expect_closed_though_not_begun(3 * kShort, 0);
}

TEST_F(Launching, IsNotWaitedForForEver) {
    int stream = 0;
    begin(&stream, kShort);
    expect_given_up();
}

TEST_F(Launching, OfAThreadThatIsToCloseTheBatchIsNotWaitedForForEver) {
    int stream = 0;
    begin(&stream, kMilli);
    expect_given_up();
}

}  // namespace
