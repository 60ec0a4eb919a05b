#include "daemon/link/base/told.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::link {
namespace {

constexpr std::uint32_t kRoot = 0;
constexpr std::uint32_t kUser = 1000;
constexpr std::uint32_t kOther = 1001;

/// How many of so many lines may be written.
std::uint32_t taken(UserLines& lines, std::uint32_t user, int tries) {
    std::uint32_t taken = 0;
    for (int i = 0; i < tries; ++i) taken += lines.take(user) ? 1U : 0U;
    return taken;
}

TEST(UserLines, AUserHasSoManyAMinuteAndTakesNoneOfOthers) {
    app::test::FakeLoop loop;
    UserLines lines(loop);
    EXPECT_EQ(taken(lines, kUser, 1000), UserLines::kMost);
    EXPECT_EQ(taken(lines, kOther, 1000), UserLines::kMost);
    loop.advance(UserLines::kWindow);
    EXPECT_EQ(taken(lines, kUser, 1), 0U);
    loop.advance(1);
    EXPECT_EQ(taken(lines, kUser, 1000), UserLines::kMost);
}

TEST(UserLines, RootsAreAllWritten) {
    app::test::FakeLoop loop;
    UserLines lines(loop);
    EXPECT_EQ(taken(lines, kRoot, 1000), 1000U);
}

}  // namespace
}  // namespace cgpu::link
