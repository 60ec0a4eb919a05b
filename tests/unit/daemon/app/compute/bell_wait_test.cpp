#include "daemon/app/compute/bell_wait.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace cgpu::app {
namespace {

constexpr Nanos kDeadline = 20'000'000'000;

TEST(BellWait, ends_at_once_when_a_word_has_changed_since_it_was_added) {
    std::atomic<std::uint32_t> bell{0};
    BellWait wait;
    wait.add(bell);
    bell = 1;
    const auto before = monotonic_now();
    wait.until(before + kDeadline);
    EXPECT_LT(monotonic_now(), before + kDeadline);
}

TEST(BellWait, ends_at_its_deadline) {
    std::atomic<std::uint32_t> bell{0};
    BellWait wait;
    wait.add(bell);
    const auto deadline = monotonic_now() + 5'000'000;
    while (monotonic_now() < deadline) wait.until(deadline);
    EXPECT_EQ(bell.load(), 0u);
}

void any_of(std::size_t count) {
    const auto bells = std::make_unique<std::atomic<std::uint32_t>[]>(count);
    BellWait wait;
    for (std::size_t i = 0; i < count; ++i) wait.add(bells[i]);
    std::thread ringer([&] {
        bells[count - 1] = 1;
        wake(bells[count - 1]);
    });
    const auto before = monotonic_now();
    while (bells[count - 1] == 0) wait.until(before + kDeadline);
    ringer.join();
    EXPECT_LT(monotonic_now(), before + kDeadline);
}

TEST(BellWait, hears_the_last_of_a_few) { any_of(3); }
TEST(BellWait, hears_the_last_of_more_than_one_wait_takes) { any_of(BellWait::kMostWords + 50); }

}  // namespace
}  // namespace cgpu::app
