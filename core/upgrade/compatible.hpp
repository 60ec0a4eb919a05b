#pragma once

#include <optional>
#include <string>

#include "core/upgrade/manifest.hpp"

namespace cgpu::upgrade {

/// Why processes that run `running` can't be moved to `target` while they run; nothing where they can. The
/// newer of the two decides, because the older one can't know it: its compatible_from must not be above the
/// older one, whether it goes up or back. Fronts call one table and read one layout of pages for as long as
/// their process lives, so those must be the same. The text is the why of a refusal, without a full stop.
/// (Whether each process's front is new enough for the target, Manifest::least_front, is asked per process.)
[[nodiscard]] std::optional<std::string> why_not_hot(const Manifest& running, const Manifest& target);

}  // namespace cgpu::upgrade
