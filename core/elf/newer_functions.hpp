#pragma once

#include "core/elf/symbols.hpp"

namespace cgpu::elf {

/// Every function that a libcuda is known to export, sorted (generated from module/generate/cuda_api.tsv and
/// private_exports.txt).
std::span<const std::string_view> known_functions();

/// The functions that a libcuda exports and that aren't known, sorted: those of a driver that is newer than
/// this release. At most kMostNewer of them, and none whose name no driver would choose. The image may be
/// anybody's, so no more of it is read than a driver's headers and symbols take several times over. Errors:
/// it is corrupt, or more would have to be read.
constexpr std::size_t kMostNewer = 256;
tl::expected<std::vector<std::string>, std::string> newer_functions(const ReadAt& image);

}  // namespace cgpu::elf
