#pragma once

#include <cstdint>

/// The clock that this process shares with cgpud. It is the host's, whatever the process has been given in
/// its place: libraries that the environment names (libfaketime) replace libc's functions, which are not
/// called here, and a time namespace shifts the kernel's clock, by an offset that is known here.
namespace cgpu::front {

constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kMillisecond = 1000 * kMicrosecond;
constexpr std::int64_t kSecond = 1000 * kMillisecond;
constexpr std::int64_t kNever = INT64_MAX;

/// CLOCK_MONOTONIC of the host, nanoseconds.
std::int64_t now_ns();

/// The same moment on the clock of the process's time namespace, in which the kernel takes absolute times;
/// 0 at least, and the largest number for all that is beyond it.
std::int64_t time_in_namespace(std::int64_t host_ns);

/// Reads the offset of the process's time namespace again: a program with one thread may have entered another
/// one since. A forked child does so by itself.
void read_clock_offset();

/// The offset in the text of /proc/PID/timens_offsets, nanoseconds; 0: it has none.
std::int64_t monotonic_offset_in(const char* text);

}  // namespace cgpu::front
