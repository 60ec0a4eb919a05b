#pragma once

#include <string>

namespace cgpu {

/// What this cgpud can read: a line each, `NAME OLDEST NEWEST`, by the versions that the files, modules and
/// fronts say of themselves. The package's scripts compare them with what is there before they go on.
[[nodiscard]] std::string formats_text();

}  // namespace cgpu
