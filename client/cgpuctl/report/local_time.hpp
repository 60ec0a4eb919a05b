#pragma once

#include <cstdint>
#include <string>

/// Moments (microseconds since 1970) in the reader's time zone.
namespace cgpu::cgpuctl::report {

/// `2026-01-31`
[[nodiscard]] std::string day_text(std::uint64_t us);
/// `08:15`
[[nodiscard]] std::string clock_text(std::uint64_t us);
/// `08:15:20`
[[nodiscard]] std::string second_text(std::uint64_t us);
/// `2026-01-31 08:15`
[[nodiscard]] std::string minute_text(std::uint64_t us);
/// When its day begins, and when the next one does.
[[nodiscard]] std::uint64_t day_begin(std::uint64_t us);
[[nodiscard]] std::uint64_t day_end(std::uint64_t us);

}  // namespace cgpu::cgpuctl::report
