#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cgpu::cgpuctl::doctor {

enum class Level {
    ok,
    unchecked,  ///< nothing is known; `why` says what is missing to check it
    warning,    ///< it works, with a drawback
    problem,    ///< something doesn't work, or will fail
};
/// `ok`, `not_checked`, `warning`, `problem`
[[nodiscard]] std::string_view to_string(Level level);

/// The result of one check. The texts are sentences without a full stop.
struct Finding {
    Level level = Level::ok;
    std::string check;  ///< the subject: `driver`, `docker`, …
    std::string what;
    std::string why;  ///< why it matters; empty if it is ok
    std::string fix;  ///< a command, or a sentence that begins with a verb; empty if it is ok

    friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

[[nodiscard]] Finding ok(std::string check, std::string what);
[[nodiscard]] Finding unchecked(std::string check, std::string what, std::string why);
/// What only root may read.
[[nodiscard]] Finding for_root(std::string check, std::string what);
/// From a message `what: why. Try: fix.`
[[nodiscard]] Finding from_message(Level level, std::string check, std::string_view message);

}  // namespace cgpu::cgpuctl::doctor
