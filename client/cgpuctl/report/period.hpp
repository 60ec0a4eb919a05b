#pragma once

#include <cstdint>
#include <string>

#include "client/node/values/client_error.hpp"
#include "core/history/totals.hpp"

namespace cgpu::cgpuctl::report {

/// A part of the calendar, in the reader's time zone: `today`, `yesterday`, `this week`, `last week` (weeks
/// begin on Monday), `this month`, `last month`, `this year`, `last year`, also with a hyphen instead of the
/// space; `2026-01-31`, `2026-01` or `2026`.
/// `now`: microseconds since 1970. Error (usage): it is none of these.
[[nodiscard]] client::Result<history::Span> parse_period(const std::string& text, std::uint64_t now);

}  // namespace cgpu::cgpuctl::report
