#pragma once

#include <cstdint>

namespace cgpu::model {

/// A time or a duration in nanoseconds. Times are on any monotonic clock that the caller uses consistently.
using Nanos = std::int64_t;

constexpr Nanos kMicro = 1'000;
constexpr Nanos kMilli = 1'000'000;
constexpr Nanos kSecond = 1'000'000'000;

}  // namespace cgpu::model
