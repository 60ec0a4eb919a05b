#pragma once

#include <optional>
#include <string>

#include "core/upgrade/manifest.hpp"

namespace cgpu::upgrade {

/// Why processes that run `running` can't be moved to `target` while they run; empty if they can. The newer
/// of the two versions decides, because the older one can't know the newer: its compatible_from must not be
/// above the older version, in both directions. Fronts call one table and read one layout of pages as long as
/// their process lives, so those must be the same. The text is the `why` of a refusal, without a full stop.
/// (Whether a process's front is new enough for the target, Manifest::least_front, is checked for each
/// process.)
[[nodiscard]] std::optional<std::string> why_not_hot(const Manifest& running, const Manifest& target);

}  // namespace cgpu::upgrade
