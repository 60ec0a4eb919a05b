#include "module/front/contexts/gpu_clock.hpp"

#include <gtest/gtest.h>

namespace cgpu::front {
namespace {

constexpr std::int64_t kAhead = 40 * kSecond;  // of the host's clock
constexpr std::int64_t kMilli = kMillisecond;

/// The host sees the end at a time of the GPU's clock at once, or this much later.
std::int64_t offset_at(GpuClock& clock, std::int64_t gpu_ns, std::int64_t late_ns = 0) {
    return clock.offset_ns(kAhead + gpu_ns + late_ns, gpu_ns);
}

TEST(GpuClock, TheSoonestLookTells) {
    GpuClock clock;
    EXPECT_EQ(offset_at(clock, 10 * kMilli, kMilli), kAhead + kMilli);
    EXPECT_EQ(offset_at(clock, 20 * kMilli), kAhead);
    EXPECT_EQ(offset_at(clock, 30 * kMilli, 5 * kMilli), kAhead);
    EXPECT_EQ(offset_at(clock, 900 * kMilli, 5 * kMilli), kAhead) << "of the window before";
}

TEST(GpuClock, FollowsDriftOfBothClocks) {
    GpuClock clock;
    std::int64_t offset = 0;
    for (std::int64_t second = 0; second < 100; ++second) {
        const std::int64_t gpu_ns = second * kSecond;
        const std::int64_t drift = second * kSecond / 10'000;  // 100 millionths
        offset = clock.offset_ns(kAhead + gpu_ns + drift, gpu_ns);
        EXPECT_NEAR(static_cast<double>(offset), static_cast<double>(kAhead + drift), 250'000) << second;
    }
}

TEST(GpuClock, WhatAStoppedProcessSeesLateIsNoDrift) {
    GpuClock clock;
    EXPECT_EQ(offset_at(clock, kSecond), kAhead);
    // Stopped for a minute; the first query afterwards is about work that had ended long before.
    const std::int64_t minute = 60 * kSecond;
    const std::int64_t offset = offset_at(clock, 2 * kSecond, minute);
    EXPECT_LE(offset, kAhead + (kSecond + minute) / 5000);
    EXPECT_EQ(offset_at(clock, 2 * kSecond + minute + kMilli), kAhead);
}

}  // namespace
}  // namespace cgpu::front
