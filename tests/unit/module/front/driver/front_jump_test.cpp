// Programs that leave a call of the driver by siglongjmp, out of a signal handler.
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

sigjmp_buf before_the_call;

void jump_out(int) { siglongjmp(before_the_call, 1); }

/// Calls `wait`, which would take minutes, and jumps out of it after 50 ms.
template <class Wait>
void leave(const Wait& wait) {
    struct sigaction action = {};
    action.sa_handler = jump_out;
    ASSERT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
    if (sigsetjmp(before_the_call, 1) == 0) {
        const itimerval soon = {{0, 0}, {0, 50'000}};
        ASSERT_EQ(setitimer(ITIMER_REAL, &soon, nullptr), 0);
        wait();
        FAIL() << "the wait ended by itself";
    }
}

// The thread was taken for one inside the driver from then on: its allocations weren't charged, and its
// launches passed any gate.
TEST_F(Front, AThreadThatJumpedOutOfTheDriverIsManagedAsBefore) {
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(200'000'000'000);
    ASSERT_EQ(launch(), 0);
    const auto synchronise = call<int()>("cuCtxSynchronize");
    leave([&] { synchronise(); });

    const auto charged = daemon().charged_bytes.load();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == charged + 64 * kMiB; }));
    EXPECT_EQ(allocate(daemon().limit_bytes, &address), kOutOfMemory);
    EXPECT_LT(heap_bytes(), daemon().limit_bytes);
}

}  // namespace
