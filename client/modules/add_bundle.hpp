#pragma once

#include <filesystem>

#include "client/node/values/client_error.hpp"
#include "core/upgrade/version.hpp"

namespace cgpu::client {

/// Copies a bundle (its folder, or a tar file of it) into the folder of modules: as a whole or not at all,
/// never over an existing version. The copy has the bytes that were checked (bundle/bundle.hpp): the manifest
/// and the engine. `dry_run`: only checked. Error: not_authorized, refused with the reason, failed.
[[nodiscard]] Result<upgrade::Version> add_bundle(const std::filesystem::path& source,
                                                  const std::filesystem::path& modules, bool dry_run);

}  // namespace cgpu::client
