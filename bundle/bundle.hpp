#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"
#include "core/upgrade/manifest.hpp"

/// A version of the module on the disk: a folder with the version's name, in it `manifest.json`, the engine
/// file that the manifest names and, if a package brought it, the fronts of that release. cgpud and cgpuctl
/// check it with the same code. It may come from anywhere, so nothing in it is trusted, and none of it is
/// loaded.
namespace cgpu::bundle {

/// The file in each bundle's folder.
constexpr const char* kManifestName = "manifest.json";
/// A bound for reading, in bytes; every engine is smaller.
constexpr std::size_t kMaxEngine = std::size_t{64} << 20;

struct Bundle {
    upgrade::Manifest manifest;
    std::string manifest_text;
    std::vector<std::byte> engine;  ///< the file's bytes: those that were judged
};

/// Reads and checks the bundle in this folder. Refused with a sentence: not_found (no folder, no manifest, no
/// engine), not_permitted (it, a folder above it or anything in it can be written by others than root, or is
/// a link), invalid (its manifest can't be read, it doesn't fit its folder or its engine, the engine is
/// truncated or exports no table), unsupported (for another machine, or an ABI or pages that this release
/// doesn't know), storage.
[[nodiscard]] tl::expected<Bundle, model::Refusal> read_bundle(const std::filesystem::path& folder);

/// The manifest of the bundle in this folder; its engine is not checked. Refused as by read_bundle().
[[nodiscard]] tl::expected<upgrade::Manifest, model::Refusal> read_manifest(
    const std::filesystem::path& folder);

/// The same checks as read_bundle(); returns the manifest only.
[[nodiscard]] tl::expected<upgrade::Manifest, model::Refusal> verify(const std::filesystem::path& folder);

/// The versions that have a folder here, whatever is in it, the oldest first; none if it can't be read.
[[nodiscard]] std::vector<upgrade::Version> versions_in(const std::filesystem::path& modules);

}  // namespace cgpu::bundle
