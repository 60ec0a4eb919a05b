#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/node/values/examination.hpp"
#include "client/node/values/snapshot.hpp"
#include "core/model/counted.hpp"
#include "core/model/printable.hpp"

/// Formats figures for users.
namespace cgpu::cgpuctl {

using model::counted;
using model::cut;
using model::printable;
using model::shortened;
using model::text_width;

/// Bytes as MiB: `4301MiB` if they are whole, else with one decimal: `4300.5MiB`.
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// `200MiB / 4301MiB`
[[nodiscard]] std::string of_text(std::uint64_t used, std::uint64_t limit);
/// The same for an instance; memory without the module is shown, too:
/// `1700MiB / 4301MiB (1500MiB unexplained, 1 process outside the module)`
[[nodiscard]] std::string memory_text(const client::ForeignGpu& foreign);
std::string memory_text(const client::Quota& quota, const client::Usage& usage);
/// By what the driver itself could limit memory: `dmem`, `misc`, or `none: why`.
[[nodiscard]] std::string limits_text(const client::DriverLimits& limits);
/// 0..1 as per cent: `25%`, `33.3%`.
[[nodiscard]] std::string share_text(double share);
/// Target and achieved share: `25% / 24.8%`; `native` if the driver divides the compute.
[[nodiscard]] std::string shares_text(const client::Usage& usage);
/// Why the weight has no effect on this GPU: `no effect under policy preemptive`, `no effect in mode memory`.
/// Empty: it counts.
[[nodiscard]] std::string why_weight_is_ignored(const client::Gpu& gpu);
/// The weight, or the percentage that was asked for, in a column: `2`, `25%`, `25% (no effect)`, `1 high`.
[[nodiscard]] std::string weight_text(const client::Quota& quota, const std::vector<client::Gpu>& gpus);
/// Nanoseconds: `83.2s`, `4.1ms`, `0s`.
[[nodiscard]] std::string duration_text(std::uint64_t nanoseconds);
/// Seconds since 1970 in local time: `2025-01-31 08:15:00`.
[[nodiscard]] std::string time_text(std::uint64_t seconds);
/// The id of an instance as it is shown to users: its first 12 characters.
[[nodiscard]] std::string short_id(std::string_view id);
/// The columns that a name takes at most where lines of several instances stand one below the other.
constexpr std::size_t kNameColumns = 40;
/// A name that others chose, printable, and cut with `…` where it is longer than kNameColumns.
[[nodiscard]] std::string shown_name(std::string_view name);
/// The same of an instance or a container, or its short id if it has no name.
[[nodiscard]] std::string shown_name(std::string_view name, std::string_view id);
/// The word by which a suggested command names an instance: its name if that is a plain word and isn't cut,
/// else its short id.
[[nodiscard]] std::string word_for(std::string_view name, std::string_view id);
/// Lines of at most this many columns, broken at blanks.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);
}  // namespace cgpu::cgpuctl
