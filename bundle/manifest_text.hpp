#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/upgrade/manifest.hpp"

namespace cgpu::bundle {

/// A bound in bytes; every manifest of this format is smaller.
constexpr std::size_t kMaxManifest = 16384;

/// Reads a manifest's JSON object: `"manifest": 1`, and a key for each field of upgrade::Manifest. Other keys
/// are ignored: a later release may add keys that this release need not know; a key that it must know raises
/// the number. Also checks that the engine's file name is the version's, that compatible_from is not above
/// the version, and that no key occurs twice. Error: the fault, without a full stop and without the file's
/// name.
[[nodiscard]] tl::expected<upgrade::Manifest, std::string> parse_manifest(std::string_view text);

/// The text from which parse_manifest() reads the same value.
[[nodiscard]] std::string write_manifest(const upgrade::Manifest& manifest);

}  // namespace cgpu::bundle
