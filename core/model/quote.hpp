#pragma once

#include <string>
#include <string_view>

namespace cgpu::model {

/// Text of others in the form that is safe in a message: in double quotes, truncated after 64 bytes (with `…`
/// written as `...`), and everything outside printable ASCII, and `"` and `\`, as an escape. The result is
/// always one line of plain ASCII, so it can go to a terminal, a log and the bus.
[[nodiscard]] std::string quote(std::string_view text);

/// Letters and digits of ASCII, `_`, `-` and `.`, and no `-` in front: no shell and no program reads more
/// into it.
[[nodiscard]] bool is_plain_word(std::string_view text);

/// Text of others as a word of a shell's command that a message suggests: the shell makes the same text of it
/// and does nothing else. Plain words stay; all others are in quotes, as one line of plain ASCII.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace cgpu::model
