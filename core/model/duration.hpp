#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

/// Durations as people write them: `2h`, `1h30m`, `45s`, `7d`.
namespace cgpu::model {

/// In seconds: more than any job takes.
constexpr std::uint64_t kLongestDuration = std::uint64_t{3650} * 86400;

/// In seconds, 1 to kLongestDuration. Error: why it is none, for a sentence: `it has no unit`.
[[nodiscard]] tl::expected<std::uint64_t, std::string> parse_duration(std::string_view text);

/// The two largest parts: `1h30m`, `36h`, `3d4h`; less than a second of the smaller part is left out.
[[nodiscard]] std::string format_duration(std::uint64_t seconds);

/// All parts, as parse_duration() reads them.
[[nodiscard]] std::string exact_duration(std::uint64_t seconds);

/// What a refusal offers instead.
constexpr const char* kDurationExamples = "2h, 90m, 1h30m or 7d, for example";

}  // namespace cgpu::model
