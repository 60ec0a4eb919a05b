#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#define API extern "C" __attribute__((visibility("default"))) int

/// A minimal driver for the front's unit tests. It implements only what the front relies on; whole programs
/// are tested on the simulator.
namespace fake {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNotInitialized = 3;
constexpr int kInvalidContext = 201;
constexpr int kNotReady = 600;

/// When all launched work has run (CLOCK_MONOTONIC).
extern std::atomic<std::int64_t> busy_until_ns;

inline std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000ll + now.tv_nsec;
}

}  // namespace fake
