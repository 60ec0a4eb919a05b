#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"
#include "core/upgrade/manifest.hpp"

/// A version of the module as it lies on the disk: a folder with the version's name, in it `manifest.json`,
/// the engine file that this names, and, in those that a package brought, the fronts of that release. cgpud
/// and cgpuctl judge it by the same code. It may come from anywhere, so nothing in it is believed, and
/// nothing of it is loaded.
namespace cgpu::bundle {

/// The file in each bundle's folder.
constexpr const char* kManifestName = "manifest.json";
/// More than any engine has, in bytes: what is read must be bounded.
constexpr std::size_t kMaxEngine = std::size_t{64} << 20;

struct Bundle {
    upgrade::Manifest manifest;
    std::string manifest_text;
    std::vector<std::byte> engine;  ///< the file's bytes: those that were judged
};

/// Reads and judges the bundle in this folder. Refused with a sentence: not_found (no folder, no manifest, no
/// engine), not_permitted (it, a folder above it or anything in it is not root's alone, or a link), invalid
/// (its manifest is none, it doesn't fit its folder or its engine, the engine is cut off or exports no
/// table), unsupported (for another machine, or an ABI or pages that this release doesn't know), storage.
[[nodiscard]] tl::expected<Bundle, model::Refusal> read_bundle(const std::filesystem::path& folder);

/// What the bundle in this folder says of itself, its engine not looked at. Refused as by read_bundle().
[[nodiscard]] tl::expected<upgrade::Manifest, model::Refusal> read_manifest(
    const std::filesystem::path& folder);

/// As read_bundle(); only what the bundle says of itself.
[[nodiscard]] tl::expected<upgrade::Manifest, model::Refusal> verify(const std::filesystem::path& folder);

/// The versions that have a folder here, whatever is in it, the oldest first; none where it can't be read.
[[nodiscard]] std::vector<upgrade::Version> versions_in(const std::filesystem::path& modules);

}  // namespace cgpu::bundle
