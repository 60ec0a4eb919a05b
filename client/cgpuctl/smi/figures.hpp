#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// How cgpu-smi writes figures.
namespace cgpu::cgpuctl::smi {

/// Bytes as whole MiB, rounded down as nvidia-smi does it.
[[nodiscard]] std::string mib_text(std::uint64_t bytes);
/// A share of 0..1 as per cent, with one decimal at most: `33.3`. Empty without a value.
[[nodiscard]] std::string per_cent_text(std::optional<double> share);
/// Nanoseconds in the unit of `per` nanoseconds, with three decimals: `1.500`.
[[nodiscard]] std::string time_in(std::uint64_t nanoseconds, double per);
/// With blanks between them.
[[nodiscard]] std::string pids_text(const std::vector<std::uint32_t>& pids);

}  // namespace cgpu::cgpuctl::smi
