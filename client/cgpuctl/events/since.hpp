#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

/// A time as users write it, by those of systemd's forms (systemd.time(7)) that name a moment in the past:
/// `10min`, `1h 30min`, `2 days ago`, `-1h`; `today`, `yesterday`; `2026-01-31`, `2026-01-31 08:15`,
/// `2026-01-31T08:15:00`, with a Z for UTC; `08:15`; `@1769847300`; and
/// the beginning of the last `monday` (or `mon`), of `this week`, `last week`, `this month`, `last month`.
/// Others are local times. `now` and the result are microseconds since 1970. Error (usage): it is none of
/// these. `option`: whose value it is.
[[nodiscard]] client::Result<std::uint64_t> parse_since(const std::string& text, std::uint64_t now,
                                                        std::string_view option = "--since");

/// `last-week` as `last week`: nobody has to quote it.
[[nodiscard]] std::string with_spaces(std::string_view text);

}  // namespace cgpu::cgpuctl
