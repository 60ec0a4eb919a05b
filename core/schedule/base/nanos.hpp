#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace cgpu::schedule {

/// A time or a duration in nanoseconds. Times are on whatever monotonic clock the caller uses throughout.
using Nanos = std::int64_t;

constexpr Nanos kMicro = 1'000;
constexpr Nanos kMilli = 1'000'000;
constexpr Nanos kSecond = 1'000'000'000;

/// "No bound" of a limit, "never" of a time.
constexpr Nanos kForever = std::numeric_limits<Nanos>::max();

/// A GPU takes at most 25 instances (S4); each keeps one slot as long as it lives.
constexpr std::size_t kSlots = 25;

}  // namespace cgpu::schedule
