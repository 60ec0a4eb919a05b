// Unused lease of a process returns to the daemon.
#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

TEST_F(Front, UnneededLeaseGoesBack) {
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(512 * kMiB, &address), 0);
    ASSERT_EQ(free(address), 0);
    EXPECT_TRUE(eventually([&] { return daemon().leased_bytes <= 32 * kMiB; }));
    daemon().recall_bytes = 1 << 30;
    EXPECT_TRUE(eventually([&] { return daemon().leased_bytes == 0; }));
}

/// Lease that is being returned is refused to no thread.
TEST_F(Front, AllOfTheLimitCanBeHadWhileLeaseGoesBack) {
    constexpr auto kAll = 256 * kMiB;
    daemon().limit_bytes = kContextEstimate + kAll;
    start();
    for (int recalls = 0; recalls < 1000; ++recalls) {
        daemon().recall_bytes = kAll;
        do {
            std::uint64_t address = 0;
            ASSERT_EQ(allocate(kAll, &address), 0) << recalls;
            ASSERT_EQ(free(address), 0);
        } while (daemon().recall_bytes != 0);
    }
    EXPECT_EQ(daemon().refused_told, 0u);
}

}  // namespace
