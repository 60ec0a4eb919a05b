#pragma once

#include <string>
#include <string_view>

namespace cgpu::model {

/// Text of others in the form that is safe in a message: in double quotes, truncated after 64 bytes (with `…`
/// written as `...`), and everything outside printable ASCII, and `"` and `\`, as an escape. The result is
/// always one line of plain ASCII, so it can go to a terminal, a log and the bus.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace cgpu::model
