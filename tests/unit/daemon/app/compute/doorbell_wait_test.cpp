#include "daemon/app/compute/doorbell_wait.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace cgpu::app {
namespace {

constexpr Nanos kDeadline = 20'000'000'000;

TEST(DoorbellWait, ends_at_once_when_a_word_has_changed_since_it_was_added) {
    std::atomic<std::uint32_t> doorbell{0};
    DoorbellWait wait;
    wait.add(doorbell);
    doorbell = 1;
    const auto before = monotonic_now();
    wait.until(before + kDeadline);
    EXPECT_LT(monotonic_now(), before + kDeadline);
}

TEST(DoorbellWait, ends_at_its_deadline) {
    std::atomic<std::uint32_t> doorbell{0};
    DoorbellWait wait;
    wait.add(doorbell);
    const auto deadline = monotonic_now() + 5'000'000;
    while (monotonic_now() < deadline) wait.until(deadline);
    EXPECT_EQ(doorbell.load(), 0u);
}

void any_of(std::size_t count) {
    const auto doorbells = std::make_unique<std::atomic<std::uint32_t>[]>(count);
    DoorbellWait wait;
    for (std::size_t i = 0; i < count; ++i) wait.add(doorbells[i]);
    std::thread ringer([&] {
        doorbells[count - 1] = 1;
        wake(doorbells[count - 1]);
    });
    const auto before = monotonic_now();
    while (doorbells[count - 1] == 0) wait.until(before + kDeadline);
    ringer.join();
    EXPECT_LT(monotonic_now(), before + kDeadline);
}

TEST(DoorbellWait, hears_the_last_of_a_few) { any_of(3); }
TEST(DoorbellWait, hears_the_last_of_more_than_one_wait_takes) { any_of(DoorbellWait::kMostWords + 50); }

}  // namespace
}  // namespace cgpu::app
