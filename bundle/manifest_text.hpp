#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/upgrade/manifest.hpp"

namespace cgpu::bundle {

/// More than any manifest of this form takes, in bytes.
constexpr std::size_t kMaxManifest = 16384;

/// Reads a manifest's JSON object: `"manifest": 1`, and a key for each field of upgrade::Manifest. Other keys
/// are passed over: a later release may say more that this one need not know; what it must know raises the
/// number. Checked, too: that the engine's file name is the version's, that compatible_from is not above the
/// version, and that a key is there once. Error: what is wrong, without a full stop and without naming the
/// file.
[[nodiscard]] tl::expected<upgrade::Manifest, std::string> parse_manifest(std::string_view text);

/// What parse_manifest() reads back to the same value.
[[nodiscard]] std::string write_manifest(const upgrade::Manifest& manifest);

}  // namespace cgpu::bundle
